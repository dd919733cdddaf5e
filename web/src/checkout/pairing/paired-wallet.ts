import { SignClient } from '@walletconnect/sign-client';
import { qrShape } from '../../shared/qr.ts';
import { clamp } from '../../shared/text.ts';
import type { Code } from '../flow-state.ts';
import type { Pairing, PaymentPage } from '../page-state.ts';
import { WalletError } from '../wallet-request.ts';
import type { Provider } from '../wallets.ts';
import { memoryStorage } from './memory-storage.ts';
import { addressesIn, orderedBy, readSession, type Session, sharesNetwork } from './session.ts';

interface PairedWalletInput {
  readonly pairing: Pairing;
  /** The payment page. The wallet shows the name of its merchant to the payer. */
  readonly page: Pick<PaymentPage, 'payment'>;
  /** The page's origin, which the wallet shows to the payer. */
  readonly url: string;
}

export interface PairedWallet extends Provider {
  /** Ends the session, and drops a QR code that no wallet has used. The wallet can be paired again. */
  close(): void;
}

/**
 * The wallet methods that a payment needs. Methods that read the chain are not included, because wallets do not answer them through
 * the relay.
 */
const METHODS = ['eth_signTypedData_v4', 'eth_sendTransaction'];
const EVENTS = ['accountsChanged', 'chainChanged'];
/** The time within which the relay must accept a new pairing code. */
const CODE_WITHIN_MS = 20_000;
/** The lifetime of a wallet request: the shortest that the protocol allows. */
const REQUEST_S = 300;
const USER_DISCONNECTED = { code: 6000, message: 'User disconnected.' };
/** The codes of a rejection by the user, in EIP-1193 and in the pairing protocol. */
const REJECTIONS: readonly unknown[] = [4001, 5000, 5001, 5002, 5003];

/** A wallet on another device, as an EIP-1193 provider through an encrypted relay. The event `code` has the code to scan. */
export async function createPairedWallet({ pairing, page, url }: PairedWalletInput): Promise<PairedWallet> {
  const client = await SignClient.init({
    projectId: pairing.projectId,
    relayUrl: pairing.relayUrl,
    metadata: { name: clamp(page.payment.merchant.name, 60), description: '', url, icons: [] },
    // The keys of a session are useless after the visit, so they are kept in memory only.
    storage: memoryStorage(),
    telemetryEnabled: false,
    logger: 'silent',
  });
  // The client's own `register` would load a frame of another origin and wait for it. The page's content security policy forbids that
  // frame.
  client.core.verify.register = async () => undefined;

  const events = new EventTarget();
  const wrappers = new Map<unknown, (event: Event) => void>();
  const emit = (type: string, detail: unknown) => events.dispatchEvent(new CustomEvent(type, { detail }));
  /** The number of pairing attempts. An older attempt must not change the session of a newer one. */
  let attempt = 0;
  /** The number of codes that a wallet may still answer. */
  let openCodes = 0;
  let session: Session | null = null;
  let network = '';

  function hold(next: Session): void {
    session = next;
    if (!sharesNetwork(next, network)) network = next.networks[0] ?? '';
  }

  function isOurs(topic: string): boolean {
    return session?.topic === topic;
  }

  function lose({ topic }: { topic: string }): void {
    if (!isOurs(topic)) return;
    session = null;
    emit('accountsChanged', []);
  }

  client.on('session_delete', lose);
  client.on('session_expire', lose);
  client.on('session_update', ({ topic, params }) => {
    if (session === null || !isOurs(topic)) return;
    hold(readSession({ ...session, namespaces: params.namespaces }, pairing.networks));
    emit('accountsChanged', addressesIn(session));
  });
  client.on('session_event', ({ topic, params: { event } }) => {
    if (session === null || !isOurs(topic) || event.name !== 'accountsChanged') return;
    hold(orderedBy(session, event.data));
    emit('accountsChanged', addressesIn(session));
  });

  async function pair(): Promise<void> {
    close();
    const mine = attempt;
    openCodes += 1;
    const code = client
      .connect({ optionalNamespaces: { eip155: { chains: [...pairing.networks], methods: METHODS, events: EVENTS } } })
      .then(({ uri = '', approval }) => ({ uri, approved: approval() }));
    // A wallet may approve a code after the payer has left the pairing step. The session of such an approval is ended.
    void code
      .then(({ approved }) => approved)
      .then(
        (late) => (mine === attempt ? undefined : end(late)),
        () => {},
      )
      .finally(() => {
        openCodes -= 1;
      });
    const { uri, approved } = await within(CODE_WITHIN_MS, code);
    if (mine !== attempt) throw new WalletError('silent');
    emit('code', { uri, qr: qrShape(uri) } satisfies Code);
    const settled = await approved.catch((error: unknown) => {
      throw pairingFailure(error);
    });
    if (mine !== attempt) throw new WalletError('silent');
    const read = readSession(settled, pairing.networks);
    if (read.accounts.length === 0) {
      void end(read);
      throw new WalletError('networkNotShared');
    }
    hold(read);
  }

  async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
    if (session === null) throw new WalletError('silent');
    if (!session.methods.includes(method)) throw new WalletError('error');
    const { topic } = session;
    try {
      return await client.request({ topic, chainId: network, request: { method, params }, expiry: REQUEST_S });
    } catch (error) {
      throw requestFailure(error);
    }
  }

  function switchTo(params: readonly unknown[]): null {
    const { chainId } = Object(params[0]) as { chainId: string };
    const wanted = `eip155:${BigInt(chainId)}`;
    if (session === null) throw new WalletError('silent');
    if (!sharesNetwork(session, wanted)) throw new WalletError('networkNotShared');
    network = wanted;
    return null;
  }

  function close(): void {
    attempt += 1;
    const ending = session;
    session = null;
    if (ending !== null) void end(ending);
  }

  /** Ends a session. Otherwise the wallet would list a connection whose page is gone. */
  async function end({ topic, pairingTopic }: Pick<Session, 'topic' | 'pairingTopic'>): Promise<void> {
    await client.disconnect({ topic, reason: USER_DISCONNECTED }).catch(() => {});
    await client.disconnect({ topic: pairingTopic, reason: USER_DISCONNECTED }).catch(() => {});
    if (session === null && openCodes === 0) await client.core.relayer.transportClose().catch(() => {});
  }

  return {
    close,
    on(type, listener) {
      const wrapper = (event: Event) => listener((event as CustomEvent<unknown>).detail);
      wrappers.set(listener, wrapper);
      events.addEventListener(type, wrapper);
    },
    removeListener(type, listener) {
      events.removeEventListener(type, wrappers.get(listener) ?? null);
      wrappers.delete(listener);
    },
    async request({ method, params = [] }) {
      switch (method) {
        case 'eth_requestAccounts':
          await pair();
          return addressesIn(session);
        case 'eth_accounts':
          return addressesIn(session);
        case 'eth_chainId':
          if (session === null) throw new WalletError('silent');
          return `0x${BigInt(network.slice('eip155:'.length)).toString(16)}`;
        case 'wallet_switchEthereumChain':
          return switchTo(params);
        default:
          return ask(method, params);
      }
    },
  };
}

/**
 * The failure to report for a pairing error. An error without an error code comes from the client: no wallet used the QR code in
 * time.
 */
function pairingFailure(error: unknown): WalletError {
  const { code } = Object(error) as { code?: unknown };
  if (REJECTIONS.includes(code)) return new WalletError('rejected');
  return new WalletError(typeof code === 'number' && code !== 0 ? 'error' : 'codeExpired');
}

/**
 * The failure to report for a request error. An error with an error code is the wallet's answer. After any other error (session
 * ended, request expired, relay failed), the wallet may have executed the request.
 */
function requestFailure(error: unknown): unknown {
  const { code } = Object(error) as { code?: unknown };
  if (REJECTIONS.includes(code)) return new WalletError('rejected');
  return typeof code === 'number' && code !== USER_DISCONNECTED.code ? error : new WalletError('silent');
}

/** Resolves to the pairing code. Rejects if the relay cannot be reached in time. */
async function within<T>(timeoutMs: number, code: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new WalletError('relayAway')), timeoutMs);
  });
  try {
    return await Promise.race([
      code.catch(() => {
        throw new WalletError('relayAway');
      }),
      late,
    ]);
  } finally {
    clearTimeout(timer);
  }
}
