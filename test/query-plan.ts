import assert from 'node:assert/strict';
import type { Database, Reader } from '../src/store/plumbing/database.ts';

/** A node of the plan of a statement, with the pages that it has read. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Heap Fetches'?: number;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** The plan, and what it did. */
export async function explain({ sql }: Pick<Database, 'sql'>, statement: ReturnType<Reader>): Promise<PlanNode> {
  const rows = await sql<PlanRow[]>`explain (analyze, buffers, format json) ${statement}`;
  return planIn(rows);
}

interface PlanRow {
  readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[];
}

function planIn(rows: readonly PlanRow[]): PlanNode {
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
  assert.ok(plan);
  return plan;
}

export function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

export function wayOf(scan: PlanNode): string {
  return `${scan['Node Type']} ${scan['Index Name']}`;
}

export function pagesOf(node: PlanNode): number {
  return node['Shared Hit Blocks'] + node['Shared Read Blocks'];
}

/** The plan of a statement that is not carried out. */
export async function planOf(sql: Reader, statement: ReturnType<Reader>): Promise<PlanNode> {
  const rows = await sql<PlanRow[]>`explain (format json) ${statement}`;
  return planIn(rows);
}
