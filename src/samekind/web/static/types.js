/**
 * What the server says, as JSDoc types. Nothing here runs.
 *
 * @typedef {{row: number, title: string, text: string | null, fields: [string, string][],
 *   has_picture: boolean, known?: boolean}} ItemView
 * @typedef {{cluster: number, number: number, name: string | null, proposed_name: string}} ClusterRef
 * @typedef {ClusterRef & {members: ItemView[]}} ClusterOption
 * @typedef {{id: string, type: "pair", a: ItemView, b: ItemView, b_cluster: ClusterRef | null, more: ItemView[],
 *   a_cluster?: ClusterRef | null, refused?: number, skipped?: boolean}} PairQuestion
 * @typedef {{id: string, type: "lineup", item: ItemView, options: ClusterOption[], item_cluster?: ClusterRef | null,
 *   refused?: number, skipped?: boolean}} LineupQuestion
 * @typedef {{id: string, type: "sheet", items: ItemView[], cluster: ClusterOption, skipped?: boolean}} SheetQuestion
 * @typedef {PairQuestion | LineupQuestion | SheetQuestion} Question
 * @typedef {ClusterOption & {known: number, by: "name" | "example" | "likelihood"}} ClusterMatch
 * @typedef {{title: string, medium: string, n_rows: number, presses: number, questions: number,
 *   budget: number | null, clusters: number, known_rows: number, done: boolean, stop_reason: string | null,
 *   stop_text: string, stopping: StopAdvice | null, can_undo: boolean, skipped: number,
 *   contradictions: number, lineups: boolean, sheets: boolean, criterion: string, revision: number, version: string, records: boolean}} Status
 * @typedef {{questions?: Question[], status?: Status, error?: string, undone?: string[]}} Reply
 * @typedef {ClusterRef & {known: number, estimated: number, recovered: boolean,
 *   members: ItemView[], doubtful: ItemView[]}} ClusterSummary
 * @typedef {{text: string, undiscovered: number, wrong: number, wrong_at_any_time: number, undecided: number}} Certificate
 * @typedef {{safe: boolean, text: string, wrong: number | null, at_presses: number}} StopAdvice
 * @typedef {{clusters: ClusterSummary[], unplaced: number, certificate: Certificate | null, notes: string[],
 *   stopping: StopAdvice, revision: number}} Overview
 * @typedef {{rows: number[], x: number[], y: number[], place: number[], known: boolean[], clusters: number[],
 *   numbers: number[], method: string, pending: boolean}} RowMap
 * @typedef {{a: ItemView, b: ItemView, a_cluster: ClusterRef | null, b_cluster: ClusterRef | null,
 *   opinions: {who: string, answer: string, at: number | null}[]}} Dispute
 * @typedef {{id: number, who: string, role: string, at: number, expires: number | null, revoked: number | null}} Link
 * @typedef {"same" | "different" | "unsure" | "skip" | "none" | number | {new: string} | {different: number[]}} Said
 */
export {};
