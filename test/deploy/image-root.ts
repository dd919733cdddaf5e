import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCOUNT, HOME } from '../../deploy/image/make-root.ts';
import type { Installation } from '../node-process.ts';

/** The reason why no root file system can be entered here as a container engine does it. */
export function missingRights(): string | false {
  if (process.platform !== 'linux') return 'not run: it needs Linux';
  const { status } = spawnSync('unshare', ['--mount', 'sh', '-c', 'mount -t tmpfs none /mnt']);
  return status === 0 ? false : 'not run: this account may not mount (root in a container with CAP_SYS_ADMIN can)';
}

/**
 * A program that runs Node inside of the root, as an engine with `--read-only --cap-drop=all --security-opt=no-new-privileges` does:
 * with the account of the image, on a root that cannot be written, with memory at /tmp and /var/lib/till. It becomes that Node, so
 * that signals arrive. The folder of an operator is there under its own name.
 */
export function enteredImage(root: string, folder: string): Installation {
  mkdirSync(join(root, folder), { recursive: true });
  chownSync(folder, ACCOUNT, ACCOUNT);
  chmodSync(folder, 0o755);
  const enter = join(root, '..', 'enter');
  const bound = `mount --bind '${root}' '${root}'`;
  const script = [
    '#!/bin/sh',
    // The second part runs in a mount namespace of its own, which ends with the process.
    `if [ "$1" != --inside ]; then exec unshare --mount --propagation private "$0" --inside "$PWD" "$@"; fi`,
    'shift; where=$1; shift',
    `chown -R ${ACCOUNT}:${ACCOUNT} '${folder}'`,
    bound,
    `mount -o remount,bind,ro '${root}'`,
    `mount -t tmpfs -o mode=1777 none '${root}/tmp' 2>/dev/null`,
    `mount -t tmpfs -o uid=${ACCOUNT},mode=700 none '${root}/var/lib/till'`,
    `mount --rbind /dev '${root}/dev'`,
    `mount --bind /proc '${root}/proc'`,
    `exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid --inh-caps=-all env --unset=NODE_COMPILE_CACHE HOME=/var/lib/till ` +
      `chroot --userspec=${ACCOUNT}:${ACCOUNT} '${root}' /usr/bin/node --import "data:text/javascript,process.chdir('$where')" "$@"`,
  ];
  writeFileSync(enter, `${script.join('\n')}\n`, { mode: 0o755 });
  return { node: enter, main: `${HOME}/src/main.ts`, till: `${HOME}/src/cli/till.ts`, folder };
}

/** What an unpacked root takes on the disk, in bytes. */
export function sizeOf(root: string): number {
  return Number.parseInt(execFileSync('du', ['-s', '-B1', root], { encoding: 'utf8' }), 10);
}
