import { TillError } from './errors.ts';

/** A list that is read page by page. `for await` iterates over all items. */
export interface List<Page, Item> extends AsyncIterable<Item> {
  page(): Promise<Page>;
  pages(): AsyncIterable<Page>;
}

export function listOf<Page extends { readonly nextCursor: string | null }, Item>(
  start: string | undefined,
  readPage: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): List<Page, Item> {
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
