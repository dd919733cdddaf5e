import { execFileSync } from 'node:child_process';
import { chmod, chown, copyFile, cp, mkdir, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { copyPackages, copyRelease } from './release-files.ts';

/** The account of the gateway in the image. No account of a usual machine has this number. */
export const ACCOUNT = 10_001;
/** The folder of the gateway in the image. */
export const HOME = '/opt/till';
const SOURCE = join(import.meta.dirname, '../..');
const OWN_PROGRAMS = ['deploy/image/health.ts'];
const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/:/none\ntill:x:${ACCOUNT}:${ACCOUNT}:till:/var/lib/till:/none\n`,
  'etc/group': `root:x:0:\ntill:x:${ACCOUNT}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
  'etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
};
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

if (import.meta.main) {
  const [target] = process.argv.slice(2);
  if (target === undefined) {
    process.stderr.write('node deploy/image/make-root.ts <folder>   makes the root file system of the image there\n');
    process.exitCode = 2;
  } else await makeRoot(target);
}

/**
 * Puts together the root file system of the image: the pinned Node with the libraries of this machine that it needs, the release
 * and its packages. There is no shell, no package manager and no npm. Its architecture is that of the machine.
 */
export async function makeRoot(target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await mkdir(join(target, HOME), { recursive: true });
  for (const folder of ['etc/ssl/certs', 'usr/bin', 'usr/lib', 'dev', 'proc', 'sys', 'tmp', 'var/lib/till']) {
    await mkdir(join(target, folder), { recursive: true });
  }
  await symlink('usr/lib', join(target, 'lib'));
  const node = join(SOURCE, `node_modules/node-linux-${process.arch}/bin/node`);
  await copyFile(node, join(target, 'usr/bin/node'));
  await chmod(join(target, 'usr/bin/node'), 0o755);
  for (const library of librariesOf(node)) await copyLibrary(library, target);
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(target, name), text);
  if (await isThere(CERTIFICATES)) await copyFile(CERTIFICATES, join(target, CERTIFICATES));
  await copyRelease(SOURCE, join(target, HOME));
  await copyPackages(SOURCE, join(target, HOME));
  for (const name of OWN_PROGRAMS) {
    await mkdir(dirname(join(target, HOME, name)), { recursive: true });
    await cp(join(SOURCE, name), join(target, HOME, name));
  }
  if (await isThere(join(SOURCE, 'sbom.json'))) await cp(join(SOURCE, 'sbom.json'), join(target, HOME, 'sbom.json'));
  await chmod(join(target, 'tmp'), 0o1777);
  await chmod(join(target, 'var/lib/till'), 0o700);
  // Without the right to do so, the archive names the owners (`write-oci.ts`).
  if (process.getuid?.() === 0) await chown(join(target, 'var/lib/till'), ACCOUNT, ACCOUNT);
}

/** The files that the loader of this machine takes for the program, the loader itself included. */
function librariesOf(program: string): string[] {
  const lines = execFileSync('ldd', [program], { encoding: 'utf8' }).split('\n');
  const paths = lines.flatMap((line) => /(?:=>\s*)?(\/\S+)\s+\(0x/.exec(line)?.[1] ?? []);
  if (paths.length === 0) throw new Error(`ldd names no library of ${program}: is it made for another architecture?`);
  return paths;
}

/** At the path that the program asks for; `/lib` and `/usr/lib` are one folder. */
async function copyLibrary(path: string, target: string): Promise<void> {
  const place = join(target, path.replace(/^\/lib\//, '/usr/lib/'));
  await mkdir(dirname(place), { recursive: true });
  await copyFile(await realpath(path), place);
  await chmod(place, basename(path).startsWith('ld-') ? 0o755 : 0o644);
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
