import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const HEADING = `# The rooms

The folders that have a \`README.md\`, each with its first line. \`npm run generate\` makes this page from them.

| folder | content |
|---|---|
`;

/** The folders that describe themselves in one line. The client library's own page is written for its users. */
export function roomsPage(): string {
  const files = [
    'src',
    'web/src',
    'web/scripts',
    'sdk/src',
    'clients',
    'contracts',
    'bench',
    'deploy',
    'scripts',
    'test',
  ].flatMap((top) =>
    globSync(`${top}/**/README.md`, { cwd: ROOT, exclude: (name) => name === 'node_modules' || name === '.peer' }),
  );
  const rows = files
    .map((file) => dirname(file).replaceAll('\\', '/'))
    .sort()
    .map((folder) => `| [\`${folder}\`](../${folder}) | ${fromDocs(folder, firstLineOf(folder))} |\n`);
  return HEADING + rows.join('');
}

function firstLineOf(folder: string): string {
  const [line = ''] = readFileSync(join(ROOT, folder, 'README.md'), 'utf8').split('\n');
  return line.replace(/^# /, '').replace(/\.$/, '');
}

/** The links of a folder's page, as `docs/` has to write them. */
function fromDocs(folder: string, line: string): string {
  return line.replaceAll(/\]\((\.[^)]*)\)/g, (_, to: string) => `](${posix.relative('docs', posix.join(folder, to))})`);
}
