import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readStaticFiles, type StaticFile, type StaticFiles } from '../checkout/static-files.ts';

/** The built guides. `find` gives undefined if there is no such page, or if the guides were not built. */
export interface Guides {
  readonly isBuilt: () => boolean;
  readonly find: (path: string) => Promise<StaticFile | undefined>;
}

/** The folder into which `npm run guides` writes the built guides. */
const BUILT = join(import.meta.dirname, '../../../docs/site/dist');

/** Opens the built guides. The files are read at the first request, because few gateways have guides, and they are requested rarely. */
export function openGuides(dir = BUILT): Guides {
  let files: Promise<StaticFiles> | undefined;
  const isBuilt = () => existsSync(join(dir, 'index.html'));
  return {
    isBuilt,
    async find(path) {
      if (files === undefined && !isBuilt()) return undefined;
      files ??= readStaticFiles(dir, ['.']);
      const found = await files;
      return found.get(path === '' ? 'index.html' : path) ?? found.get(`${path}.html`);
    },
  };
}
