import type { Database, Reader, Tx } from '../src/store/plumbing/database.ts';
import { savepoint } from '../src/store/plumbing/database.ts';
import { textOf } from '../src/store/plumbing/statement.ts';
import { explain, nodesOf, type PlanNode } from './query-plan.ts';
import { headOf, spyOnReads, spyOnStatements } from './spied-statements.ts';

type Sent = ReturnType<Reader>;

export interface Cost {
  /** The rows of the table that all statements have read. */
  readonly rows: number;
  /** The statements about the table, whether they have read rows of it or not. */
  readonly statements: number;
  /** The statements that have read rows of the table, each with their number. */
  readonly readers: readonly string[];
}

/** What PostgreSQL reads of a table meanwhile. Each statement about it is carried out once more, only to count. */
export async function costOf(db: Database, table: string, work: () => Promise<unknown>): Promise<Cost> {
  const readers: { readonly head: string; readonly rows: number }[] = [];
  let statements = 0;
  const isAbout = (statement: Sent) => new RegExp(`\\b${table}\\b`).test(textOf(statement).text);
  const note = (statement: Sent, plan: PlanNode) => {
    statements += 1;
    const rows = nodesOf(plan).reduce((sum, node) => sum + rowsOf(node, table), 0);
    if (rows > 0) readers.push({ head: headOf(statement), rows });
  };
  const { sql } = db;
  const ends = [
    spyOnReads(db, async (sent) => {
      const statement = sent as Sent;
      if (isAbout(statement)) note(statement, await explain({ sql }, statement));
    }),
    spyOnStatements(db, async (sent, tx) => {
      const statement = sent as Sent;
      if (isAbout(statement)) note(statement, await explainUndone(tx, statement));
    }),
  ];
  await work();
  for (const end of ends) end();
  return {
    rows: readers.reduce((sum, { rows }) => sum + rows, 0),
    statements,
    readers: readers.map(({ head, rows }) => `${rows}: ${head}`),
  };
}

/** The plan of a statement, whose effect is undone. */
async function explainUndone(tx: Tx, statement: Sent): Promise<PlanNode> {
  const undo = new Error('The statement is undone.');
  let plan: PlanNode | undefined;
  try {
    await savepoint(tx, async (inner) => {
      plan = await explain({ sql: inner }, statement);
      throw undo;
    });
  } catch (error) {
    if (error !== undo || plan === undefined) throw error;
  }
  return plan as PlanNode;
}

/** The rows of a table that a node has read, those included that a filter has removed. */
function rowsOf(node: PlanNode, table: string): number {
  if (node['Relation Name'] !== table || !node['Node Type'].endsWith('Scan')) return 0;
  const perLoop =
    (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
  return perLoop * (node['Actual Loops'] ?? 1);
}
