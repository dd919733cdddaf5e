import { unshiftedWorld } from '../../runtime/shifted-clock.ts';
import type { CommandDeps } from '../command.ts';

/** Sessions, links and challenges use the clock that nobody can move. */
export function onSteadyTime<D extends CommandDeps>(deps: D): D {
  return { ...deps, world: unshiftedWorld(deps.world) };
}
