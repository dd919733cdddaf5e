import type { CallOptions, Connection, Query } from './connection.ts';
import { TillError } from './errors.ts';

/** A list that is read page by page. `for await` iterates over all items. */
export interface List<Page, Item> extends AsyncIterable<Item> {
  page(): Promise<Page>;
  pages(): AsyncIterable<Page>;
}

interface ListCall {
  readonly path: string;
  readonly query: Query & { readonly cursor?: string };
  readonly isOfMerchant?: boolean;
}

export function listOf<Page extends { readonly nextCursor: string | null }, Item>(
  connection: Connection,
  { query, ...call }: ListCall,
  itemsOf: (page: Page) => readonly Item[],
  options: CallOptions | undefined,
): List<Page, Item> {
  const start = query.cursor;
  const readPage = (cursor: string | undefined) =>
    connection.ask<Page>({ method: 'GET', ...call, query: { ...query, cursor } }, options);
  async function* pages() {
    for (let cursor = start; ; ) {
      const page = await readPage(cursor);
      yield page;
      if (page.nextCursor === null) return;
      if (page.nextCursor === cursor) throw new TillError('The list does not come to an end.');
      cursor = page.nextCursor;
    }
  }
  return {
    page: () => readPage(start),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* itemsOf(page);
    },
  };
}
