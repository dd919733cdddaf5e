import type { ConnectedChain } from '../../src/chains/chains.ts';

/** A gateway with one promise broken on purpose. The simulation must notice it. */
export interface Mutant {
  readonly name: string;
  /** Alters the statements of all nodes. */
  readonly alter?: (text: string) => string;
  readonly alterChain?: (connected: ConnectedChain) => ConnectedChain;
}
