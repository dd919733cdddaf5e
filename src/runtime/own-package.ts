import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface OwnPackage {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The content of `package.json`, read once, because the files of a running version do not change. */
let known: OwnPackage | undefined;

/** The `package.json` of this version. */
export function readOwnPackage(): OwnPackage {
  known ??= JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as OwnPackage;
  return known;
}

/** The version of this release, as `package.json` and `CHANGELOG.md` name it. */
export const programVersion = (): string => readOwnPackage().version;
