import { keccak256 } from 'viem';
import { coinText } from '../amount-text.ts';
import type { BroadcastOutcome } from '../sender.ts';
import type { Signer } from '../signer.ts';
import { sign } from './batches.ts';
import { broadcastCall, readOutcome } from './broadcast.ts';
import { CREATE2_DEPLOYER } from './collector.ts';
import { DeploymentError } from './deployment-error.ts';
import type { EvmContext } from './evm-context.ts';
import { suggestFees } from './fees.ts';
import type { RpcCall } from './json-rpc.ts';
import { offerOf } from './offer.ts';
import { type Hex, readNumber, readQuantity } from './rpc-values.ts';
import { hasCodeCall } from './token-calls.ts';
import { waitUntilMined } from './wait-until-mined.ts';

/**
 * The transaction that creates the CREATE2 deployer. It has no chain id, so it is valid on every chain. Its r and s are made up,
 * and its sender is the account that they recover to, so nobody has the sender's key. The deployer therefore has the same address
 * everywhere.
 */
const TRANSACTION: Hex =
  '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222';
const HASH = keccak256(TRANSACTION);
const SENDER = '0x3fAB184622Dc19b6109349B94811493BF2a45362';
/** The cost of this transaction: 100,000 gas at 100 gwei. Both values are signed and cannot change. */
const COST = 10n ** 16n;
const TRANSFER_GAS = 21_000n;

/**
 * Deploys the CREATE2 deployer on a chain that lacks it, and returns the hash of its transaction. The relayer funds the sender
 * with the gas cost. The transaction is broadcast once before that, so that no coin is spent on a network that refuses it. After
 * a crash at any point, the next run continues from the state of the chain.
 */
export async function deployDeployer(context: EvmContext, relayer: Signer): Promise<Hex> {
  const { rpc, network } = context;
  let outcome = await rpc.call(offerCall());
  if (outcome === 'short_balance') {
    await fund(context, relayer);
    outcome = await rpc.call(offerCall());
  }
  refuseUnlessTaken(network.name, outcome);
  await waitUntilMined(context, HASH);
  if (await rpc.call(hasCodeCall(CREATE2_DEPLOYER))) return HASH;
  throw spent(network.name);
}

/**
 * The call that broadcasts the deployer's transaction. An unknown error counts as the network's refusal, because nearly every
 * other network accepts these bytes.
 */
function offerCall(): RpcCall<BroadcastOutcome | 'refused'> {
  return { ...broadcastCall(TRANSACTION), readError: (error) => ({ value: readOutcome(error) ?? 'refused' }) };
}

function refuseUnlessTaken(network: string, outcome: BroadcastOutcome | 'refused'): void {
  if (outcome === 'accepted' || outcome === 'known') return;
  if (outcome === 'slot_used') throw spent(network);
  if (outcome === 'underpriced') {
    throw new DeploymentError(
      `The CREATE2 deployer pays 100 gwei for gas, and ${network} asks for more at this moment: try again later.`,
    );
  }
  throw new DeploymentError(
    `${network} does not take the transaction of the CREATE2 deployer, which is older than EIP-155. ` +
      `Ask its operators to put the deployer at ${CREATE2_DEPLOYER}, or try another RPC endpoint.`,
  );
}

function spent(network: string): DeploymentError {
  return new DeploymentError(
    `The transaction of the CREATE2 deployer has failed on ${network}, and cannot be sent a second time. ` +
      `Only the operators of ${network} can put the deployer at ${CREATE2_DEPLOYER}.`,
  );
}

/** Raises the sender's balance to the cost of its transaction. */
async function fund(context: EvmContext, relayer: Signer): Promise<void> {
  const { rpc, network } = context;
  const [balance, nonce, fees] = await Promise.all([
    rpc.call({ method: 'eth_getBalance', params: [SENDER, 'latest'], read: readQuantity }),
    rpc.call({ method: 'eth_getTransactionCount', params: [relayer.address, 'latest'], read: readNumber }),
    suggestFees(context),
  ]);
  if (balance >= COST) return;
  const transfer = { to: SENDER, value: COST - balance, gas: TRANSFER_GAS } as const;
  const { hash, bytes } = await sign(context, relayer, { slot: nonce, offer: offerOf(fees) }, transfer);
  const outcome = await rpc.call(broadcastCall(bytes));
  if (outcome !== 'accepted' && outcome !== 'known') {
    throw new DeploymentError(
      outcome === 'short_balance'
        ? `${relayer.address} needs ${coinText(network, COST)} and gas, to pay for the CREATE2 deployer.`
        : `${relayer.address} is sending other transactions at this moment: try again.`,
    );
  }
  await waitUntilMined(context, hash as Hex);
}
