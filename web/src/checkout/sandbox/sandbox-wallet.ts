import type { Provider } from '../wallets.ts';
import { type SandboxRole, sandboxKey } from './key.ts';
import { signTransaction } from './transaction.ts';
import { type TypedData, typedDataDigest } from './typed-data.ts';

interface SandboxWalletInput {
  /** The JSON-RPC path of the sandbox chain, on the page's origin. */
  readonly rpcPath: string;
  /** CAIP-2. */
  readonly chainId: string;
  readonly role: SandboxRole;
  readonly fetch: typeof fetch;
}

/** A wallet inside the page, for people without one. It has one public account with play money and approves every request. */
export function createSandboxWallet({ rpcPath, chainId, role, fetch }: SandboxWalletInput): Provider {
  const key = sandboxKey(role);
  const chain = BigInt(chainId.slice('eip155:'.length));
  const rpc = async (method: string, params: readonly unknown[] = []): Promise<unknown> => {
    const response = await fetch(rpcPath, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(15_000),
    });
    const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
    if (error !== undefined) throw error;
    return result;
  };

  const send = async (request: { to: string; value?: string; data?: string }): Promise<unknown> => {
    const call = { from: key.address, to: request.to, value: request.value ?? '0x0', data: request.data ?? '0x' };
    const [nonce, gas, price] = await Promise.all([
      rpc('eth_getTransactionCount', [key.address, 'pending']),
      rpc('eth_estimateGas', [call]),
      rpc('eth_gasPrice'),
    ]);
    const fee = BigInt(price as string);
    const transaction = {
      chainId: chain,
      nonce: BigInt(nonce as string),
      // The fee is doubled, because the gas price may rise between the estimate and the block.
      maxFeePerGas: fee * 2n,
      maxPriorityFeePerGas: fee < 1_000_000_000n ? fee : 1_000_000_000n,
      gas: (BigInt(gas as string) * 12n) / 10n,
      to: call.to,
      value: BigInt(call.value),
      data: call.data,
    };
    return rpc('eth_sendRawTransaction', [signTransaction(transaction, key)]);
  };

  return {
    async request({ method, params = [] }) {
      switch (method) {
        case 'eth_requestAccounts':
        case 'eth_accounts':
          return [key.address];
        case 'eth_chainId':
          return `0x${chain.toString(16)}`;
        case 'wallet_switchEthereumChain':
          throw { code: 4902 };
        case 'eth_signTypedData_v4':
          return key.signature(typedDataDigest(JSON.parse(String(params[1])) as TypedData));
        case 'eth_sendTransaction':
          return send(params[0] as { to: string; value?: string; data?: string });
        default:
          return rpc(method, params);
      }
    },
  };
}
