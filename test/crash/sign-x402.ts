import { type Hex, numberToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { headerText, type Requirement } from '../../src/domain/x402.ts';
import { SANDBOX_KEYS } from '../../src/sandbox/genesis.ts';
import { TRANSFER_AUTHORIZATION } from '../transfer-authorization.ts';
import { TOKEN } from './settings.ts';

const payer = privateKeyToAccount(SANDBOX_KEYS.payer);

/** The payer's answer to a request for payment. Amounts are unique, so they serve as nonces. */
export async function signX402(required: Readonly<Record<string, unknown>>, units: bigint): Promise<string> {
  const accepts = required.accepts as readonly Requirement[];
  const accepted = accepts.find(({ asset }) => asset.toLowerCase() === TOKEN.toLowerCase());
  if (accepted === undefined) throw new Error('the token is not among the ways to pay');
  const { extra, network, maxTimeoutSeconds } = accepted;
  const message = {
    from: payer.address,
    to: accepted.payTo as Hex,
    value: units,
    validAfter: 0n,
    validBefore: BigInt(Math.floor(Date.now() / 1000) + maxTimeoutSeconds),
    nonce: numberToHex(units, { size: 32 }),
  };
  const signature = await payer.signTypedData({
    domain: {
      name: extra.name,
      version: extra.version,
      chainId: Number(network.split(':')[1]),
      verifyingContract: TOKEN,
    },
    types: TRANSFER_AUTHORIZATION,
    primaryType: 'TransferWithAuthorization',
    message,
  });
  const texts = Object.entries(message).map(([name, value]) => [name, String(value)]);
  const payload = { authorization: Object.fromEntries(texts), signature };
  return headerText({ x402Version: 2, accepted, payload });
}
