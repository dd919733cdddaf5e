import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Preloaded by `--import`. Two thousand modules are then compiled, and their types stripped, once for an installation and not at
 * every start. Where the folder cannot be written, nothing is cached.
 */
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/node-compile'));
