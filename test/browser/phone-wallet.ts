import { SignClient } from '@walletconnect/sign-client';
import type { TestWallet } from '../wallet-sdk/test-wallet.ts';
import type { Relay } from './relay.ts';

/** A request of the page, as the wallet gets it. */
export interface PairedRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface PhoneWalletInput {
  readonly relay: Relay;
  readonly wallet: TestWallet;
  /** Accounts of the session, CAIP-10. By default the wallet's own. */
  readonly accounts?: readonly string[];
  readonly isRejecting?: boolean;
  /** Answers in place of the wallet: a result, or an error with a code. Undefined leaves the request to the wallet. */
  readonly whim?: (request: PairedRequest) => unknown;
}

const USER_REJECTED = { code: 5000, message: 'User rejected.' };
let count = 0;

/** A wallet app on a phone: the published client, with the key of a test wallet. */
export async function openPhoneWallet(input: PhoneWalletInput) {
  const { relay, wallet, isRejecting = false, whim = () => undefined } = input;
  const accounts = input.accounts ?? [wallet.account];
  count += 1;
  const client = await SignClient.init({
    projectId: '0'.repeat(32),
    relayUrl: relay.url,
    // One process holds several wallets.
    customStoragePrefix: `phone-${count}`,
    metadata: { name: 'Phone', description: '', url: 'https://phone.example', icons: [] },
    telemetryEnabled: false,
    logger: 'silent',
  });
  // It would ask a service about the page.
  client.core.verify.resolve = async () => ({ origin: '' });
  const proposals: unknown[] = [];
  const requests: PairedRequest[] = [];
  const ended: string[] = [];

  client.on('session_delete', ({ topic }) => ended.push(topic));
  client.on('session_proposal', async ({ id, params }) => {
    proposals.push(params);
    if (isRejecting) return client.reject({ id, reason: USER_REJECTED });
    const chains = accounts.map((account) => account.slice(0, account.lastIndexOf(':')));
    const asked = params.optionalNamespaces.eip155;
    const eip155 = { accounts: [...accounts], chains, methods: asked?.methods ?? [], events: asked?.events ?? [] };
    await client.approve({ id, namespaces: { eip155 } });
  });
  client.on('session_request', async ({ topic, id, params: { chainId, request } }) => {
    const { method, params } = request as PairedRequest;
    requests.push({ method, params });
    const odd = (await whim({ method, params })) as { result?: unknown; error?: object; isSilent?: true } | undefined;
    if (odd?.isSilent) return;
    const answer = odd ?? {
      result: (await wallet.answerAll([{ chainId, method, params: JSON.stringify(params) }]))[0],
    };
    await client.respond({ topic, response: { id, jsonrpc: '2.0', ...answer } as never });
  });

  return {
    proposals,
    requests,
    /** Topics of sessions that the page has ended. */
    ended,
    sessions: () => client.session.getAll(),
    scan: (uri: string) => client.pair({ uri }),
    /** The user ends the session in the wallet. */
    async disconnect() {
      for (const { topic } of client.session.getAll()) await client.disconnect({ topic, reason: USER_REJECTED });
    },
    async close() {
      await client.core.relayer.transportClose();
      client.core.heartbeat.stop();
    },
  };
}
