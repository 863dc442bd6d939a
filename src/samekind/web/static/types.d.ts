/** What the server sends, and what the page's modules share. */

export interface ItemView {
  row: number;
  title: string;
  text: string | null;
  fields: [string, string][];
  has_picture: boolean;
  copies?: number;
  known?: boolean;
}

export interface ClusterRef {
  cluster: number;
  number: number;
  name: string | null;
  proposed_name: string;
  definition: string;
}

export interface ClusterOption extends ClusterRef {
  members: ItemView[];
}

export interface ClusterMatch extends ClusterOption {
  known: number;
  by: "name" | "example" | "likelihood";
}

export interface ClusterSummary extends ClusterOption {
  known: number;
  estimated: number;
  copies: number;
  is_split: boolean;
  recovered: boolean;
  doubtful: ItemView[];
}

/** How alike two records are in one field, from 0 to 1, and the log-odds that it tells. */
export interface FieldComparison {
  name: string;
  alike: number | null;
  weight: number;
}

export interface PairQuestion {
  id: string;
  type: "pair";
  a: ItemView;
  b: ItemView;
  a_cluster: ClusterRef | null;
  b_cluster: ClusterRef | null;
  more: ItemView[];
  refused: number;
  skipped: boolean;
  /** The row that "it is …" is about. */
  subject: number;
  /** Of records. */
  compared: FieldComparison[];
}

export interface LineupQuestion {
  id: string;
  type: "lineup";
  item: ItemView;
  options: ClusterOption[];
  item_cluster: ClusterRef | null;
  refused: number;
  skipped?: false;
}

export interface SheetQuestion {
  id: string;
  type: "sheet";
  items: ItemView[];
  cluster: ClusterOption;
  skipped?: false;
}

export type Question = PairQuestion | LineupQuestion | SheetQuestion;

export type Said =
  | "same"
  | "different"
  | "unsure"
  | "skip"
  | "none"
  | number
  | { new: string }
  | { different: number[] };

export interface StopAdvice {
  safe: boolean;
  text: string;
  wrong: number | null;
  at_presses: number;
}

export interface Status {
  title: string;
  medium: string;
  n_rows: number;
  presses: number;
  questions: number;
  budget: number | null;
  clusters: number;
  known_rows: number;
  done: boolean;
  stop_reason: string | null;
  stop_text: string;
  stopping: StopAdvice | null;
  can_undo: boolean;
  skipped: number;
  contradictions: number;
  lineups: boolean;
  sheets: boolean;
  criterion: string;
  revision: number;
  version: string;
  records: boolean;
  project: string;
  uncompared: string[];
  /** That answers, and suggests names; "" if there is none. */
  model: string;
}

export interface UndoneAct {
  said: string;
  pairs: number;
  name: string;
  items: ItemView[];
}

export interface Reply {
  questions?: Question[];
  status?: Status;
  error?: string;
  saved?: boolean;
  acts?: UndoneAct[];
}

export interface Overview {
  clusters: ClusterSummary[];
  unplaced: number;
  certificate: { text: string } | null;
  notes: string[];
  stopping: StopAdvice;
}

export interface MapData {
  rows: number[];
  x: number[];
  y: number[];
  place: number[];
  known: boolean[];
  clusters: number[];
  numbers: number[];
  method: string;
  pending: boolean;
}

export interface History {
  presses: number[];
  clusters: number[];
}

export interface Dispute {
  a: ItemView;
  b: ItemView;
  b_cluster: ClusterRef | null;
  opinions: { who: string; answer: string; at: number | null }[];
}

export interface AnsweredPair {
  a: ItemView;
  b: ItemView;
  answer: string;
  who?: string;
}

export interface FoundItem extends ItemView {
  kind: ClusterRef | null;
}

export interface Press {
  at: number;
  who: string;
  asked: boolean;
  pairs: AnsweredPair[];
  total: number;
}

export interface Link {
  id: number;
  who: string;
  role: string;
  at: number;
  expires: number | null;
  revoked: number | null;
}

export interface Threshold {
  threshold: number;
  kept: number;
  precision_bound: number | null;
  recall_bound: number | null;
  audited: number;
  entities: number;
  duplicates: number;
  joined: number;
  parted: number;
  changed: ChangedPair[];
}

export interface ChangedPair {
  a: ItemView;
  b: ItemView;
  probability: number;
  together: boolean;
}

export interface Me {
  /** the name of the project that this is a part of */
  part_of: string | null;
  /** null where people have no links */
  who: string | null;
  role: string;
  state: string;
  doing: string;
  share: number;
}

/** A message to the person, for a while. */
export interface Message {
  text: string;
  bad?: boolean;
  items?: ItemView[];
  action?: string;
  onaction?: () => void;
}

/** What waits to be sent. */
export interface Unsent {
  type: "answer" | "undo";
  question?: Question;
  said?: Said;
  tries?: number;
  /** With it, a second try is not done twice. */
  key?: string;
  givenUp?: boolean;
}

export interface Saving {
  state: "idle" | "saved" | "saving" | "unsaved";
  waiting: number;
  seconds: number;
  why: string;
  /** What the server fails at, perhaps for ever. */
  stuck: "answer" | "undo" | null;
  /** Whether there is no access any more. */
  withdrawn: boolean;
}

/** The state of the page; see `store.js`. */
export interface State {
  me: Me;
  status: Status | null;
  /** The first is on the screen. */
  queue: Question[];
  undoing: number;
  loaded: boolean;
  /** Whether the server does not accept this page's token, and why. */
  locked: boolean;
  why: string;
  /** Whether the question appeared this very moment. */
  settling: boolean;
  /** Questions to which the server takes no answer, not even "skip". */
  aside: Set<string>;
  saving: Saving;
  trouble: (Error & { locked: boolean }) | null;
  busy: boolean;
  view: string;
  message: Message | null;
  dialogs: { id: number; content: any }[];
  /** The answer that was pressed this moment. */
  flash: string;
  announcement: string;
  stopping: StopAdvice | null;
  keysChanged: number;
  hidesUncompared: boolean;
  overview: Overview | null;
  map: MapData | null;
  history: History | null;
  foundError: string;
  /** How many pairs people disagree about. */
  disputes: number;
}
