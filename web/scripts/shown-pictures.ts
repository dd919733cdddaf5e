import { copyFile, glob, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const KEPT = join(ROOT, 'docs/pictures');
/** Every picture that a command makes. Git ignores the folder. */
export const ALL_PICTURES = join(ROOT, '.pictures');

/** The pictures that a page of the documentation shows, by their paths below `docs/pictures`. */
export async function shownPictures(): Promise<ReadonlySet<string>> {
  const shown = new Set<string>();
  for await (const page of glob(['*.md', 'docs/**/*.md', 'sdk/*.md'], { cwd: ROOT })) {
    const text = await readFile(join(ROOT, page), 'utf8');
    for (const [, path = ''] of text.matchAll(/\bpictures\/([\w./-]+\.(?:webp|svg))/g)) shown.add(path);
  }
  return shown;
}

/** Copies the pictures of a folder that pages show into the documentation. The number of copies. */
export async function keepShown(folder: string): Promise<number> {
  let kept = 0;
  const shown = await shownPictures();
  for await (const path of glob('**/*.webp', { cwd: folder })) {
    if (!shown.has(path)) continue;
    await mkdir(dirname(join(KEPT, path)), { recursive: true });
    await copyFile(join(folder, path), join(KEPT, path));
    kept += 1;
  }
  return kept;
}
