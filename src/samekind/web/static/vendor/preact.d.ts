/** The part of Preact and htm that the page uses, for the type checker. */
type Ref<T> = { current: T };
export function html(parts: TemplateStringsArray, ...values: unknown[]): any;
export function render(tree: any, parent: any): void;
export function useState<T>(first: T | (() => T)): [T, (next: T | ((now: T) => T)) => void];
export function useReducer<S, A>(step: (now: S, act: A) => S, first: S): [S, (act: A) => void];
export function useEffect(effect: () => void | (() => void), given?: unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), given?: unknown[]): void;
export function useRef<T>(first: T): Ref<T>;
export function useMemo<T>(make: () => T, given: unknown[]): T;
