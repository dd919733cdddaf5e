import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Read once, because the files of a running version do not change. */
let version: string | undefined;

/** The version of this release, as `package.json` and `CHANGELOG.md` name it. */
export function programVersion(): string {
  version ??= String(JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).version);
  return version;
}
