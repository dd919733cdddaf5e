import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** More than PostgreSQL needs for the orders of a run. */
const SIZE_MB = 512;
const BALLAST_STEPS = [1024 * 1024, 4096];

/** A disk that the harness can fill. */
export interface SmallDisk {
  readonly dir: string;
  /** Leaves no free byte. */
  fill(): Promise<void>;
  free(): Promise<void>;
  unmount(): void;
}

/** Mounts a small file system. Undefined where that is not permitted: only root may. */
export function mountSmallDisk(dir: string, sizeMb = SIZE_MB): SmallDisk | undefined {
  mkdirSync(dir, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m,mode=0777`, 'tmpfs', dir], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const ballast = join(dir, 'ballast');
  return {
    dir,
    async fill() {
      const file = await open(ballast, 'a');
      try {
        for (const bytes of BALLAST_STEPS) await writeUntilFull(file, Buffer.alloc(bytes));
      } finally {
        await file.close();
      }
    },
    free: () => rm(ballast, { force: true }),
    unmount: () => void execFileSync('umount', ['--lazy', dir], { stdio: 'ignore' }),
  };
}

async function writeUntilFull(file: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<void> {
  for (;;) {
    try {
      await file.write(bytes);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw error;
    }
  }
}
