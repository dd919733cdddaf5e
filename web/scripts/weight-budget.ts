import { basename, dirname } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin, Rollup } from 'vite';

interface Budget {
  /** The measured file of the page. */
  readonly entry: string;
  /** The compressed size of all scripts that the page begins with. */
  readonly scriptBytes: number;
  /** The same of what each further page adds to them. Absent: not measured. */
  readonly laterBytes?: number;
  /** Compressed. */
  readonly styleBytes: number;
}

/**
 * Fails the build when the page is too large for a phone with a slow connection. Files loaded on demand are
 * counted for themselves.
 */
export function weightBudget(budget: Budget): Plugin {
  return {
    name: 'till:weight-budget',
    generateBundle(options, bundle) {
      if (options.format !== 'es' || !this.environment || this.environment.name === 'ssr') return;
      const chunks = [...firstChunks(bundle, budget.entry)];
      if (chunks.length === 0) this.error(`${budget.entry} is not in the build: there is nothing to weigh`);
      const scripts = chunks.reduce((sum, chunk) => sum + compressed(chunk.code), 0);
      const sheets = new Set(chunks.flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])]));
      const styles = [...sheets].reduce(
        (sum, name) => sum + compressed((bundle[name] as Rollup.OutputAsset | undefined)?.source ?? ''),
        0,
      );
      this.info(`${basename(dirname(budget.entry))}: ${scripts} bytes of script, ${styles} bytes of style, compressed`);
      if (scripts > budget.scriptBytes) this.error(`scripts weigh ${scripts} bytes, more than ${budget.scriptBytes}`);
      if (budget.laterBytes !== undefined) {
        for (const later of laterChunks(bundle, new Set(chunks))) {
          if (later.bytes > budget.laterBytes)
            this.error(`${later.name} adds ${later.bytes} bytes, more than ${budget.laterBytes}`);
        }
      }
      if (styles > budget.styleBytes) this.error(`styles weigh ${styles} bytes, more than ${budget.styleBytes}`);
    },
  };
}

/** The entry and everything it imports before it can run. */
function firstChunks(bundle: Rollup.OutputBundle, entry: string): Set<Rollup.OutputChunk> {
  const found = new Set<Rollup.OutputChunk>();
  const add = (file: Rollup.OutputAsset | Rollup.OutputChunk | undefined) => {
    if (file?.type !== 'chunk' || found.has(file)) return;
    found.add(file);
    for (const name of file.imports) add(bundle[name]);
  };
  for (const file of Object.values(bundle)) if (file.type === 'chunk' && file.facadeModuleId === entry) add(file);
  return found;
}

/** The pages that are loaded on demand, each with everything that it adds to the first chunks. */
function laterChunks(bundle: Rollup.OutputBundle, first: ReadonlySet<Rollup.OutputChunk>) {
  const names = new Set([...first].flatMap(({ dynamicImports }) => dynamicImports));
  return [...names].map((name) => {
    const added = new Set<Rollup.OutputChunk>();
    const add = (file: Rollup.OutputAsset | Rollup.OutputChunk | undefined) => {
      if (file?.type !== 'chunk' || first.has(file) || added.has(file)) return;
      added.add(file);
      for (const next of file.imports) add(bundle[next]);
    };
    add(bundle[name]);
    return { name, bytes: [...added].reduce((sum, { code }) => sum + compressed(code), 0) };
  });
}

function compressed(content: string | Uint8Array): number {
  return gzipSync(content, { level: 9 }).byteLength;
}
