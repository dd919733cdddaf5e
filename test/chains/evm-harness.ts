import { encodeAbiParameters, encodeFunctionData, parseAbi, parseSignature } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import testWallet from '../../contracts/artifacts/TestWallet.json' with { type: 'json' };
import { PERMIT2_ADDRESS } from '../../src/chains/evm/collector.ts';
import { createEvmChain } from '../../src/chains/evm/evm-chain.ts';
import type { Item } from '../../src/domain/item.ts';
import { systemWorld } from '../../src/runtime/system-world.ts';
import { SANDBOX_ACCOUNTS, SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { findAsset, findNetwork } from '../registry.ts';
import type { Harness, Payer } from './harness.ts';
import { SANDBOX_ASSETS } from './sandbox-assets.ts';
import { signerFromKey } from './signer.ts';

type Hex = `0x${string}`;

/** A sandbox chain that mines on request, and accepts the methods by which tests change state and time. */
export interface ScriptedEvm {
  readonly rpcUrl: string;
  request(method: string, params?: readonly unknown[]): Promise<unknown>;
  mine(): Promise<void>;
  reorg(depth: number, transactions: 'forgotten' | 'kept'): Promise<void>;
  setReachable(isReachable: boolean): Promise<void>;
  close(): Promise<void>;
}

const TOKEN = parseAbi([
  'function mint(address to, uint256 amount)',
  'function pause()',
  'function unpause()',
  'function blacklist(address account)',
  'function unBlacklist(address account)',
  'function addBlackList(address account)',
  'function removeBlackList(address account)',
  'function freeze(address account)',
  'function unfreeze(address account)',
  'function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function invalidateUnorderedNonces(uint256 wordPos, uint256 mask)',
]);
const GAS = 2_000_000n;
const FEES = { maxFeePerGas: 100_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };

/** The functions that add an account to a token's blacklist and remove it, by the function that reads it. */
const BLACKLISTING = {
  isBlacklisted: ['blacklist', 'unBlacklist'],
  isBlackListed: ['addBlackList', 'removeBlackList'],
  isFrozen: ['freeze', 'unfreeze'],
  isAccountFrozen: ['freeze', 'unfreeze'],
} as const;

/** The network that a chain of a test poses as. */
export interface Pose extends Pick<Harness, 'assets' | 'usedReason'> {
  /** CAIP-2. */
  readonly networkId: string;
}

/** The EVM adapter on a chain with the contracts of a sandbox, which may pose as another network with its tokens. */
export function createEvmHarness(
  evm: ScriptedEvm,
  { networkId = 'eip155:31337', assets = SANDBOX_ASSETS, usedReason = 'used' }: Partial<Pose> = {},
): Harness {
  const network = findNetwork(networkId);
  if (network === undefined) throw new Error(`${networkId} is not a known network`);
  const chainId = Number(networkId.slice('eip155:'.length));
  const chain = createEvmChain({ world: systemWorld, network, endpoints: [evm.rpcUrl] });
  const minter = privateKeyToAccount(SANDBOX_KEYS.minter);

  async function sendFrom(account: Payer, call: { to?: Hex; data?: Hex; value?: bigint }): Promise<Hex> {
    const nonce = Number(await evm.request('eth_getTransactionCount', [account.address, 'pending']));
    const raw = await account.signTransaction({ type: 'eip1559', chainId, nonce, gas: GAS, ...FEES, ...call });
    return (await evm.request('eth_sendRawTransaction', [raw])) as Hex;
  }

  /** Mined in its own block; a failure throws. */
  async function carryOut(account: Payer, call: { to?: Hex; data?: Hex }): Promise<{ contractAddress: Hex }> {
    const hash = await sendFrom(account, call);
    await evm.mine();
    const receipt = (await evm.request('eth_getTransactionReceipt', [hash])) as { status: Hex; contractAddress: Hex };
    if (receipt?.status !== '0x1') throw new Error('A transaction of the test failed');
    return receipt;
  }

  const askMinter = (asset: string, call: Parameters<typeof encodeFunctionData<typeof TOKEN>>[0]) =>
    carryOut(minter, { to: tokenOf(asset), data: encodeFunctionData(call) });

  async function addCoin(account: string, units: bigint): Promise<void> {
    const balance = BigInt((await evm.request('eth_getBalance', [account, 'latest'])) as string);
    await evm.request('hardhat_setBalance', [account, `0x${(balance + units).toString(16)}`]);
    // A block makes it part of the chain's history, so that a reorg keeps it.
    await evm.mine();
  }

  async function cancel(payer: Payer, item: Item): Promise<void> {
    const nonce = chain.payerSide.commitmentOf(item) as Hex;
    if (item.method === 'permit2') {
      await addCoin(payer.address, 10n ** 18n);
      const args = [BigInt(nonce) >> 8n, 1n << (BigInt(nonce) & 255n)] as const;
      const data = encodeFunctionData({ abi: TOKEN, functionName: 'invalidateUnorderedNonces', args });
      await carryOut(payer, { to: PERMIT2_ADDRESS, data });
      return;
    }
    const { domain, types } = JSON.parse(String(chain.payerSide.walletActions(item, 0n)[0]?.params[1]));
    const signature = await payer.signTypedData({
      domain,
      types: {
        EIP712Domain: types.EIP712Domain,
        CancelAuthorization: [
          { name: 'authorizer', type: 'address' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'CancelAuthorization',
      message: { authorizer: payer.address, nonce },
    });
    const { r, s, v } = parseSignature(signature);
    const args = [payer.address, nonce, Number(v), r, s] as const;
    await askMinter(item.asset, { abi: TOKEN, functionName: 'cancelAuthorization', args });
  }

  return {
    chain,
    assets,
    relayers: [signerFromKey(SANDBOX_KEYS.relayer), signerFromKey(SANDBOX_KEYS.secondRelayer)],
    feeAccount: SANDBOX_ACCOUNTS.feeAccount,
    usedReason,
    fund: async (account, asset, units) => {
      if (asset === assets.native) return addCoin(account, units);
      await askMinter(asset, { abi: TOKEN, functionName: 'mint', args: [account as Hex, units] });
    },
    mine: async (timestampS) => {
      if (timestampS !== undefined) await evm.request('evm_setNextBlockTimestamp', [timestampS]);
      await evm.mine();
    },
    reorg: evm.reorg,
    setBlacklisted: async (account, asset, isOn) => {
      const kind = findAsset(asset)?.blacklist;
      if (kind === undefined || kind === 'isBlocked') return false;
      const [add, remove] = BLACKLISTING[kind];
      await askMinter(asset, { abi: TOKEN, functionName: isOn ? add : remove, args: [account as Hex] });
      return true;
    },
    setPaused: async (asset, isOn) => {
      // Every test token with a blacklist can also be paused, and the others cannot.
      if (findAsset(asset)?.blacklist === undefined) return false;
      await askMinter(asset, { abi: TOKEN, functionName: isOn ? 'pause' : 'unpause' });
      return true;
    },
    send: async (payer, action) => {
      const { to, value = '0x0', data = '0x' } = action.params[0] as { to: Hex; value?: Hex; data?: Hex };
      return sendFrom(payer, { to, value: BigInt(value), data });
    },
    cancelAuthorization: cancel,
    giveCode: async (account, code) => {
      const types = [{ type: 'address' }, { type: 'uint8' }, { type: 'address' }] as const;
      const [owner, quirk] = code === 'gas_burner' ? [minter.address, 1] : [code.owner as Hex, 0];
      const input = encodeAbiParameters(types, [owner, quirk, minter.address]);
      const deployed = await carryOut(minter, { data: `${testWallet.bytecode as Hex}${input.slice(2)}` });
      const runtime = await evm.request('eth_getCode', [deployed.contractAddress, 'latest']);
      await evm.request('hardhat_setCode', [account, runtime]);
    },
    setReachable: evm.setReachable,
    close: async () => {
      chain.close();
      await evm.close();
    },
  };
}

const tokenOf = (asset: string): Hex => asset.slice(asset.lastIndexOf(':') + 1) as Hex;
