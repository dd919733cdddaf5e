/**
 * The rule by which answers of endpoints become facts. Two endpoints must agree before a payment ends or money is released: a
 * single endpoint may lie, lag behind or be compromised.
 */

export interface Statement<T> {
  readonly by: string;
  /** The answer of the endpoint. Undefined if it gave none. */
  readonly answer: T | undefined;
  /** Milliseconds without an answer; 0 for a healthy endpoint. */
  readonly silentForMs: number;
}

export interface QuorumRule {
  readonly endpoints: number;
  /** True if the chain is our own process, whose one endpoint has no reason to lie. */
  readonly isTrustedAlone: boolean;
}

export type Finding<T> =
  /** At least two endpoints gave this answer, and fewer gave any other. A sandbox's own chain needs one endpoint. */
  | { readonly is: 'agreed'; readonly value: T; readonly dissenters: readonly string[] }
  /** One endpoint answers and no other is reachable: enough for small amounts, at a greater depth. */
  | { readonly is: 'alone'; readonly value: T }
  /** Too few endpoints have answered. */
  | { readonly is: 'open' }
  | { readonly is: 'disputed' };

/** The time without an answer after which an endpoint counts as silent. Before, it may still answer, so no other endpoint counts alone. */
const SILENT_AFTER_MS = 5 * 60_000;

/** The factor by which the needed depth grows if a single endpoint confirms a payment. */
export const LONE_DEPTH_FACTOR = 3;

export function weigh<T>(
  statements: readonly Statement<T>[],
  rule: QuorumRule,
  keyOf: (value: T) => unknown = (value) => value,
): Finding<T> {
  const groups = Map.groupBy(
    statements.filter(({ answer }) => answer !== undefined),
    ({ answer }) => keyOf(answer as T),
  );
  const [largest, ...others] = [...groups.values()].sort((a, b) => b.length - a.length);
  if (largest === undefined) return { is: 'open' };
  const value = largest[0]?.answer as T;
  if (largest.length > (others[0]?.length ?? 0) && largest.length >= needed(rule)) {
    return { is: 'agreed', value, dissenters: others.flat().map(({ by }) => by) };
  }
  if (others.length > 0) return { is: 'disputed' };
  return mayStandAlone(statements, rule) ? { is: 'alone', value } : { is: 'open' };
}

/** The height of the chain according to two endpoints, or to the only reachable one. */
export interface Heights {
  readonly agreed: number | undefined;
  readonly alone: number | undefined;
}

/**
 * The height that the endpoints agree on. An endpoint at some height has also reached all lower heights, so two endpoints agree
 * on the second highest.
 */
export function weighHeights(statements: readonly Statement<number>[], rule: QuorumRule): Heights {
  const heights = statements.flatMap(({ answer }) => answer ?? []).sort((a, b) => b - a);
  const agreed = heights[needed(rule) - 1];
  if (agreed !== undefined) return { agreed, alone: undefined };
  return { agreed: undefined, alone: mayStandAlone(statements, rule) ? heights[0] : undefined };
}

/** The number of an account's used slots, according to the endpoints. */
export interface ReportedSlots {
  /** Two endpoints have counted at least this many used slots. */
  readonly atLeast: number | undefined;
  /** Two endpoints have counted at most this many used slots. */
  readonly atMost: number | undefined;
  /** The number of used slots from the only endpoint that answered. */
  readonly soleCount: number | undefined;
  /** True if exactly one endpoint answered and its answer may count alone. Then its answer about a final block is needed as well. */
  readonly isAlone: boolean;
  /** The highest answer of any single endpoint. It must not be used as a proof. */
  readonly highest: number | undefined;
}

/**
 * Combines the reported numbers of used slots. The number never decreases, so an endpoint that reports N confirms every lower
 * number as well. The answer of a single endpoint is never enough, not even for a sandbox's own chain, because our stored sends
 * are more reliable.
 */
export function weighSlots(statements: readonly Statement<number>[], rule: QuorumRule): ReportedSlots {
  const counts = statements.flatMap(({ answer }) => answer ?? []).sort((a, b) => a - b);
  const [lowest] = counts;
  return {
    atLeast: counts.at(-2),
    atMost: counts[1],
    soleCount: counts.length === 1 ? lowest : undefined,
    isAlone: counts.length === 1 && mayStandAlone(statements, rule),
    highest: counts.at(-1),
  };
}

/**
 * The number of endpoints that must agree. For a sandbox's own chain with one endpoint, one is enough. If more are configured,
 * their answers are compared.
 */
function needed({ endpoints, isTrustedAlone }: QuorumRule): number {
  return isTrustedAlone && endpoints === 1 ? 1 : 2;
}

/** True if the answer of a single endpoint counts: it is the only configured endpoint, or the other of two has been silent for long. */
function mayStandAlone(statements: readonly Statement<unknown>[], { endpoints }: QuorumRule): boolean {
  if (endpoints === 1) return true;
  const silent = statements.filter(({ answer }) => answer === undefined);
  return endpoints === 2 && silent.length === 1 && silent.every(({ silentForMs }) => silentForMs >= SILENT_AFTER_MS);
}
