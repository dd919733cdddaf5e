type Describe = () => Promise<string>;

const describers = new Set<Describe>();

/** Adds words to every failure from now on, such as what a page shows. Returns how to stop that. */
export function onFailure(describe: Describe): () => void {
  describers.add(describe);
  return () => void describers.delete(describe);
}

/** What the test's surroundings looked like when it failed. */
export async function describeFailure(test: string): Promise<string> {
  const notes = await Promise.all(
    [...describers].map((describe) => describe().catch((error: unknown) => `no words: ${error}`)),
  );
  return notes.map((note) => `when "${test}" failed: ${note}\n`).join('');
}
