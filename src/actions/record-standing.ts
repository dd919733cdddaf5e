import type { RunningNode } from '../store/plumbing/nodes.ts';

/**
 * The network records of the running node that started last are in force. A node with other records sends and signs nothing: it
 * may know other decimals, or another peg. When the last node stops, the records of the node before it are in force again.
 */
export interface RecordStanding {
  /** True if the records of this node are in force. Also true for a node that has just started and has not compared its records yet. */
  isInForce(): boolean;
  /** The reason why the records of this node are not in force, as a sentence. Undefined if they are in force. */
  problem(): string | undefined;
  note(problem: string | undefined): void;
}

export function createRecordStanding(): RecordStanding {
  let known: string | undefined;
  return {
    isInForce: () => known === undefined,
    problem: () => known,
    note: (problem) => {
      known = problem;
    },
  };
}

type Records = Readonly<Record<string, string>>;
type Node = Pick<RunningNode, 'id' | 'host' | 'startedAt' | 'records'>;

/**
 * The problem of the node `own` as a sentence, if its records differ from those of the running node that started last. Nodes of older
 * versions do not report their records, and are skipped.
 */
export function standingAmong(nodes: readonly Node[], own: Pick<Node, 'id' | 'host'> & { readonly records: Records }) {
  const reporting = nodes.filter(({ records }) => records !== null);
  const last = reporting.toSorted(byStart).at(-1);
  if (last === undefined || last.id === own.id) return undefined;
  const others = differing(own.records, last.records ?? {});
  if (others.length === 0) return undefined;
  return `The files of networks of the node ${own.host} differ from those of ${last.host}, which started last: ${named(others)}. ${own.host} sends and signs nothing. Give every node the same files and the same version, and start ${own.host} again.`;
}

function byStart(one: Node, other: Node): number {
  return one.startedAt.getTime() - other.startedAt.getTime() || (one.id < other.id ? -1 : 1);
}

/** The CAIP-2 ids of networks whose records differ between two nodes, or that only one of the two nodes has. */
function differing(one: Records, other: Records): string[] {
  const ids = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...ids].filter((id) => one[id] !== other[id]).toSorted();
}

const MOST_NAMED = 5;

function named(ids: readonly string[]): string {
  const more = ids.length - MOST_NAMED;
  return ids.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
