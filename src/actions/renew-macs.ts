interface MacRow {
  readonly id: string;
  readonly mac: string | null;
}

/** Access to the authenticated rows of one table. */
interface MacTable<Row extends MacRow> {
  /** Locks a page of all rows, by id. */
  lock(page: { readonly after: string; readonly limit: number }): Promise<readonly Row[]>;
  macOf(row: Row): string;
  write(macs: readonly { readonly id: string; readonly mac: string }[]): Promise<void>;
}

const PAGE = 1_000;

/** Writes the MACs of trusted rows under the newest key, and returns their number. All others stay as they are. */
export async function renewMacs<Row extends MacRow>(
  table: MacTable<Row>,
  isTrusted: (row: Row) => boolean,
): Promise<number> {
  let after = '';
  let renewed = 0;
  for (;;) {
    const page = await table.lock({ after, limit: PAGE });
    const macs = page.filter(isTrusted).map((row) => ({ id: row.id, mac: table.macOf(row) }));
    if (macs.length > 0) await table.write(macs);
    renewed += macs.length;
    if (page.length < PAGE) return renewed;
    after = page.at(-1)?.id ?? after;
  }
}
