import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
/** Packages outside of the bundles are found from there. */
const FOLDER = join(ROOT, 'node_modules/.cache/till-test');
/** Passes the folder of the bundles to the processes of the test files. */
const BUNDLES = 'TILL_TEST_BUNDLES';

/** The programs that tests start again and again. */
const PROGRAMS = { main: 'src/main.ts', 'crash-node': 'test/crash/crash-node.ts' } as const;

/**
 * Puts each program into one file for this run: a node that loads its 1,900 modules one by one takes a second more of
 * processor time.
 */
export async function bundleNodes(): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const { outputFiles } = await build({
      entryPoints: [join(ROOT, program)],
      outfile: join(FOLDER, `${name}.mjs`),
      write: false,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: `node${process.versions.node}`,
      // They read files of their own, or are native.
      external: ['@nomicfoundation/edr', 'pino', 'pdfkit', 'fontkit'],
      plugins: [ownPlaces(join(ROOT, program))],
      // Packages in CommonJS call it for Node's own modules.
      banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);` },
    });
    // Nodes of another run may start at any time: they find a whole file.
    for (const { path, contents } of outputFiles) {
      await writeFile(`${path}.${process.pid}`, contents);
      await rename(`${path}.${process.pid}`, path);
    }
  }
  process.env[BUNDLES] = FOLDER;
}

/** The file of a program: its bundle in a run of all tests, or its source. */
export function programFile(name: keyof typeof PROGRAMS): string {
  const folder = process.env[BUNDLES];
  return folder === undefined ? join(ROOT, PROGRAMS[name]) : join(folder, `${name}.mjs`);
}

/**
 * Modules keep the places of their sources, from which they find other files. Only the program itself may be the main
 * module. Another program that it imports has a bundle of its own.
 */
function ownPlaces(program: string): Plugin {
  return {
    name: 'own-places',
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /\/main\.ts$/ }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: './main.mjs', external: true },
      );
      onLoad({ filter: /\/(src|test)\/.*\.ts$/ }, async ({ path }) => {
        if (path.includes('/node_modules/')) return undefined;
        const source = await readFile(path, 'utf8');
        const contents = source
          .replaceAll('import.meta.dirname', JSON.stringify(join(path, '..')))
          .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
          .replaceAll('import.meta.main', path === program ? 'import.meta.main' : 'false');
        return { contents, loader: 'ts' };
      });
    },
  };
}
