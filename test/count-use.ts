import type { CountLimit } from '../src/http/entry/count-limit.ts';

/** Counts one use of a limit, without a request. */
export async function use(limit: CountLimit, name: string): Promise<void> {
  await limit.run(
    [name],
    async () => {},
    () => true,
  );
}
