import { createMemoryChain } from '../../src/chains/memory/memory-chain.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { findNetwork } from '../registry.ts';
import type { Harness } from './harness.ts';
import { SANDBOX_ASSETS } from './sandbox-assets.ts';
import { signerFromKey } from './signer.ts';

/** The chain in memory, with the relayers and accounts of the sandbox. */
export function createMemoryHarness(): Harness {
  const network = findNetwork('eip155:31337');
  if (network === undefined) throw new Error('The sandbox is not a known network');
  const { chain, control } = createMemoryChain({ network, isAutoMining: false });
  const relayers = [signerFromKey(SANDBOX_KEYS.relayer), signerFromKey(SANDBOX_KEYS.secondRelayer)] as const;
  for (const { address } of relayers) control.setBalance(address, SANDBOX_ASSETS.native, 10n ** 20n);

  return {
    chain,
    assets: SANDBOX_ASSETS,
    relayers,
    feeAccount: SANDBOX_ACCOUNTS.feeAccount,
    usedReason: 'used',
    fund: async (account, asset, units) =>
      control.setBalance(account, asset, control.balanceOf(account, asset) + units),
    mine: async (timestampS) => control.mine(1, timestampS === undefined ? {} : { timestampS }),
    reorg: async (depth, transactions) =>
      control.reorg(depth, { transactions: transactions === 'kept' ? 'kept' : 'dropped' }),
    setBlacklisted: async (account, asset, isOn) => {
      control.setBlacklisted(account, asset, isOn);
      return true;
    },
    setPaused: async (asset, isOn) => {
      control.setPaused(asset, isOn);
      return true;
    },
    send: async (_, action) => control.send(action),
    cancelAuthorization: async (_, item) => {
      control.cancelAuthorization(item);
      control.mine();
    },
    giveCode: async (account, code) =>
      control.setCode(account, code === 'gas_burner' ? { is: 'gas_burner' } : { is: 'wallet', owner: code.owner }),
    setReachable: async (isReachable) => (isReachable ? control.comeBack() : control.goDown()),
    close: async () => {},
  };
}
