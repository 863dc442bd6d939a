/**
 * What the server says, as JSDoc types. Nothing here runs.
 *
 * @typedef {{row: number, title: string, text: string | null, fields: [string, string][],
 *   picture: string | null, known?: boolean}} Thing
 * @typedef {{kind: number, name: string | null}} KindBrief
 * @typedef {{kind: number, name: string | null, members: Thing[]}} Option
 * @typedef {{id: string, type: "pair", a: Thing, b: Thing, b_kind: KindBrief | null, more: Thing[],
 *   skipped?: boolean}} PairQuestion
 * @typedef {{id: string, type: "lineup", thing: Thing, options: Option[], skipped?: boolean}} LineUpQuestion
 * @typedef {PairQuestion | LineUpQuestion} Question
 * @typedef {{title: string, medium: string, n_rows: number, questions: number, clicks: number,
 *   budget: number | null, kinds: number, settled_rows: number, done: boolean, stop_reason: string | null,
 *   stop_text: string, left: {next_kind: number | null, text: string}, can_undo: boolean, skipped: number,
 *   contradictions: number, version: string, settings: {lineup: boolean}, revision: number}} State
 * @typedef {{questions?: Question[], state?: State, error?: string, undone?: string[]}} Reply
 * @typedef {{kind: number, name: string | null, known: number, estimated: number, recovered: boolean,
 *   members: Thing[], doubtful: Thing[]}} Kind
 * @typedef {{text: string, undiscovered: number, wrong: number}} Certificate
 * @typedef {{kinds: Kind[], unplaced: number, certificate: Certificate | null, notes: string[],
 *   revision: number}} Outline
 * @typedef {"same" | "different" | "unsure" | "skip" | "none" | number} Said
 */
export {};
