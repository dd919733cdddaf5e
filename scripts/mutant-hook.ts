import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Loaded into a test process by `mutate-contracts.ts`: artifacts of contracts that the folder in `TILL_MUTANT` has take the
 * place of our own. The addresses follow from the code, so the tests need nothing else.
 */
const folder = process.env.TILL_MUTANT ?? '';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.includes('/contracts/artifacts/')) return nextLoad(url, context);
    try {
      const source = readFileSync(join(folder, basename(fileURLToPath(url))), 'utf8');
      return { format: 'json', source, shortCircuit: true };
    } catch {
      return nextLoad(url, context);
    }
  },
});
