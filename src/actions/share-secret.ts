import { sharedSecret } from '../store/plumbing/secrets.ts';
import { type CommandDeps, command } from './command.ts';

const BYTES = 32;

/** A key of the gateway by its purpose. The first node makes it, all nodes share it. */
export function shareSecret(deps: CommandDeps, name: 'cursor' | 'option' | 'receipt'): Promise<Uint8Array> {
  return command(deps, (tx) => sharedSecret(tx, { name, candidate: deps.world.random.bytes(BYTES) }));
}
