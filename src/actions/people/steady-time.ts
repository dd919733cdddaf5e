import { unshiftedWorld } from '../../runtime/shifted-clock.ts';
import type { CommandDeps } from '../command.ts';

/** The same dependencies, with a clock that nobody can move. Sessions, links and challenges use it. */
export function onSteadyTime<D extends CommandDeps>(deps: D): D {
  return { ...deps, world: unshiftedWorld(deps.world) };
}
