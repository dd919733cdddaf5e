import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface OwnPackage {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The `package.json` of this version. */
export function readOwnPackage(): OwnPackage {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as OwnPackage;
}
