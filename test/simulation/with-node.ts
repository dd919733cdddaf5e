import type { SimNode } from './node.ts';
import type { Participant } from './scheduler.ts';
import type { Seeded } from './seeded.ts';
import type { Stage } from './stage.ts';

/** Runs a command of the operator on a node, as a program of its own on the same database would. */
export async function withNode(
  stage: Stage,
  by: Participant,
  random: Seeded,
  label: string,
  run: (deps: NonNullable<SimNode['parts']>) => Promise<unknown>,
): Promise<void> {
  await stage.scheduler.pass(by, label);
  const running = stage.nodes.filter((node): node is SimNode => node?.isAlive === true && node.parts !== undefined);
  if (running.length === 0) return;
  const node = random.pick(running);
  const { parts } = node;
  if (parts === undefined) return;
  await Promise.race([
    run(parts).catch((error: unknown) => stage.scheduler.note(`${label}: ${String(error)}`)),
    node.crashed,
  ]);
}
