import { browserMemory, discovererOf, listenOutside, visitId } from '../browser.ts';
import type { RefundPage } from '../page-state.ts';
import { createSigning, type SigningPage } from './signing.ts';
import { createSigningGateway } from './signing-api.ts';

interface OpenSigning {
  readonly signing: SigningPage;
  /** Starts the search for wallets. Returns the function that stops it. */
  discover(): () => void;
}

export function openSigning(page: RefundPage): OpenSigning {
  const { appId, code, refund, sandbox } = page;
  const signing = createSigning({
    refund,
    sandbox,
    gateway: createSigningGateway({
      code,
      appId,
      clientId: visitId(),
      fetch: (...request) => fetch(...request),
      onServerTime: () => {},
    }),
    memory: browserMemory(),
    outside: listenOutside(),
    random: Math.random,
  });
  return { signing, discover: discovererOf(page, 'merchant', signing.foundWallets) };
}
