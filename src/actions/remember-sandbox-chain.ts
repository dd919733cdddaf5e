import { sharedValue } from '../store/plumbing/shared-values.ts';
import { type CommandDeps, command } from './command.ts';

export class OtherSandboxChainError extends Error {
  constructor() {
    super(
      'the payments in this database were made on the sandbox chain of another node. To work together with that node, ' +
        "set RPC_URLS=eip155:31337=<that chain's RPC URL>, which it shows when it starts, and TILL_SECRET_FILE to the file " +
        '"secret" in its TILL_HOME; to work alone, set DATABASE_URL or TILL_HOME to something new.',
    );
    this.name = 'OtherSandboxChainError';
  }
}

/** Binds the database to the first sandbox chain that uses it. The hash of the genesis block identifies a chain. */
export async function rememberSandboxChain(deps: CommandDeps, genesisHash: string): Promise<void> {
  const candidate = Buffer.from(genesisHash.slice(2), 'hex');
  const remembered = await command(deps, (tx) => sharedValue(tx, { name: 'sandbox chain', candidate }));
  if (!remembered.equals(candidate)) throw new OtherSandboxChainError();
}
