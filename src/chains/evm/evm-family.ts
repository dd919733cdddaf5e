import type { Family } from '../family.ts';
import { PERMIT2_ADDRESS } from './collector.ts';
import { COLLECTORS, type ContractRelease, DEPOSIT_CONTRACTS, isSealed, takesAuthorizations } from './collectors.ts';
import { committedTerms } from './committed.ts';
import { createEvmChain } from './evm-chain.ts';
import { createExternalSigner } from './external-signer.ts';
import { createLocalSigner } from './local-signer.ts';

export const EVM: Family = {
  createChain: createEvmChain,
  createLocalSigner,
  createExternalSigner,
  // Wallets in use expect both actions of Permit2, the approval and the signature, in the list of options.
  listsActions: (method) => method === 'permit2',
  contractProblem,
  isSealed,
  takesAuthorizations,
  committedTerms,
};

/**
 * The reason why money sent to this address is lost, if it is one of our contracts. They have the same addresses on every EVM
 * chain.
 */
function contractProblem(address: string): string | undefined {
  const isOneOf = (releases: readonly ContractRelease[]) => releases.some((release) => release.address === address);
  if (isOneOf(COLLECTORS)) return 'must not be the Collector, which passes all on';
  if (isOneOf(DEPOSIT_CONTRACTS)) return 'must not be the contract of deposit addresses, which can give nothing back';
  if (address === PERMIT2_ADDRESS) return 'must not be Permit2, which can give nothing back';
  return undefined;
}
