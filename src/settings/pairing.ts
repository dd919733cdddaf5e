import { type Kind, Problem } from './kinds.ts';
import { setting } from './setting.ts';

/** Settings for wallets that are paired by a QR code (WalletConnect). */
export const PAIRING_SETTINGS = {
  walletConnectProjectId: setting(
    'WALLETCONNECT_PROJECT_ID',
    projectId(),
    undefined,
    'The project of WalletConnect, from its dashboard. With it the checkout offers "Phone wallet": payers pair a wallet app by a code. See `docs/wallets.md`.',
    'none: no pairing, and the page loads nothing of it',
  ),
  walletConnectRelayUrl: setting(
    'WALLETCONNECT_RELAY_URL',
    relayUrl(),
    'wss://relay.walletconnect.org',
    'The relay between the checkout and paired wallets. Wallets connect to the published one, unless they are your own.',
  ),
};

function projectId(): Kind<string> {
  return {
    name: '32 hexadecimal digits',
    parse: (raw) => (/^[0-9a-f]{32}$/.test(raw) ? raw : new Problem('must be 32 hexadecimal digits in lower case')),
  };
}

/** The origin of a relay. The value becomes part of a content security policy, so it must be an origin and nothing else. */
function relayUrl(): Kind<string> {
  return {
    name: 'WebSocket origin, such as `wss://relay.example.com`',
    parse: (raw) => {
      const url = URL.parse(raw);
      const isSafe = url?.protocol === 'wss:' || (url?.protocol === 'ws:' && LOOPBACK.test(url.hostname));
      return url !== null && isSafe && HOST.test(url.hostname) && `${url.origin}/` === url.href
        ? url.origin
        : new Problem('must be a wss origin without path, query or credentials; ws is for this machine alone');
    },
  };
}

/** The form of a host name. It excludes `*` and `;`, which a content security policy would interpret. */
const HOST = /^([a-z0-9.-]+|\[[0-9a-f:]+\])$/;
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;
