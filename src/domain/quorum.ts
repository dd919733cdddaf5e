/**
 * When what endpoints say counts as a fact. Two must say the same before anything follows from it that ends a payment or
 * releases money: one alone may lie, lag behind or be in the hands of somebody else.
 */

/** What one endpoint says. */
export interface Statement<T> {
  readonly by: string;
  /** Undefined when it gave no answer. */
  readonly says: T | undefined;
  /** For how long it has given none. */
  readonly silentForMs: number;
}

export interface QuorumRule {
  /** How many endpoints are configured. */
  readonly endpoints: number;
  /** The chain is our own process: its one endpoint has nobody to lie for. */
  readonly isTrustedAlone: boolean;
}

export type Finding<T> =
  /** Two or more say so, and more than say anything else. */
  | { readonly is: 'agreed'; readonly value: T; readonly dissenters: readonly string[] }
  /** One says so and nobody else can be asked: enough for small amounts, at a greater depth. */
  | { readonly is: 'alone'; readonly value: T }
  /** Too few have answered. */
  | { readonly is: 'open' }
  | { readonly is: 'disputed' };

/** An endpoint that was silent for less than this is waited for. */
const SILENT_AFTER_MS = 5 * 60_000;

/** A payment that one endpoint alone vouches for must lie this many times as deep. */
export const LONE_DEPTH_FACTOR = 3;

/** What follows from the statements of all endpoints that were asked. */
export function weigh<T>(
  statements: readonly Statement<T>[],
  rule: QuorumRule,
  keyOf: (value: T) => unknown = (value) => value,
): Finding<T> {
  const groups = Map.groupBy(
    statements.filter(({ says }) => says !== undefined),
    ({ says }) => keyOf(says as T),
  );
  const [largest, ...others] = [...groups.values()].sort((a, b) => b.length - a.length);
  if (largest === undefined) return { is: 'open' };
  const value = largest[0]?.says as T;
  if (largest.length > (others[0]?.length ?? 0) && largest.length >= needed(rule)) {
    return { is: 'agreed', value, dissenters: others.flat().map(({ by }) => by) };
  }
  if (others.length > 0) return { is: 'disputed' };
  return mayStandAlone(statements, rule) ? { is: 'alone', value } : { is: 'open' };
}

/** How far the chain has come: as two endpoints say, or as the only one that can be asked does. */
export interface Heights {
  readonly agreed: number | undefined;
  readonly alone: number | undefined;
}

/** An endpoint that has come to a height has come to all below: so the second highest is what two agree on. */
export function weighHeights(statements: readonly Statement<number>[], rule: QuorumRule): Heights {
  const heights = statements.flatMap(({ says }) => says ?? []).sort((a, b) => b - a);
  const agreed = heights[needed(rule) - 1];
  if (agreed !== undefined) return { agreed, alone: undefined };
  return { agreed: undefined, alone: mayStandAlone(statements, rule) ? heights[0] : undefined };
}

/** A sandbox's own chain has one endpoint and needs one. Whoever configures more of it wants them compared. */
function needed({ endpoints, isTrustedAlone }: QuorumRule): number {
  return isTrustedAlone && endpoints === 1 ? 1 : 2;
}

/** Whether the only endpoint, or the only one of two that has answered for a while, is listened to. */
function mayStandAlone(statements: readonly Statement<unknown>[], { endpoints }: QuorumRule): boolean {
  if (endpoints === 1) return true;
  const silent = statements.filter(({ says }) => says === undefined);
  return endpoints === 2 && silent.length === 1 && silent.every(({ silentForMs }) => silentForMs >= SILENT_AFTER_MS);
}
