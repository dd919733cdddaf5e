import { sharedSecret } from '../store/secrets.ts';
import { type CommandDeps, command } from './command.ts';

const BYTES = 32;

/** The key that signs cursors: made by the first node, the same on all. */
export function shareCursorSecret(deps: CommandDeps): Promise<Uint8Array> {
  return command(deps, (tx) => sharedSecret(tx, { name: 'cursor', candidate: deps.world.random.bytes(BYTES) }));
}
