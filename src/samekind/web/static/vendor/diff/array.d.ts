/** The part of jsdiff that the page uses, for the type checker. */
type Change = { count: number; added: boolean; removed: boolean; value: string[] };
export function diffArrays(
  a: string[],
  b: string[],
  options: { maxEditLength: number },
): Change[] | undefined;
