import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { copyText, openCheckout } from '../browser.ts';
import { CLOSED_PHONE } from '../first-props.ts';
import type { PaymentPage } from '../page-state.ts';
import { payUrl } from '../phone-wallets.ts';
import type { PhonePanel } from './actions.ts';
import { App } from './app.tsx';
import { useEndTitle } from './use-end-title.ts';
import { useRareSteps } from './use-rare-steps.ts';
import { useReturn } from './use-return.ts';
import { useStepFocus } from './use-step-focus.ts';

/** How long a copy button shows its success. */
const COPIED_MS = 2_000;

/** The payment page with its script, which hydrates the server's markup. */
export function LivePage({ page }: { readonly page: PaymentPage }) {
  const [{ checkout, clock, memory, discover }] = useState(() => openCheckout(page));
  const flow = useSyncExternalStore(checkout.subscribe, checkout.getFlow, checkout.getFlow);
  const [nowMs, setNowMs] = useState(page.nowMs);
  const [phone, setPhone] = useState<PhonePanel>(CLOSED_PHONE);
  const [copied, setCopied] = useState<string | null>(null);
  const forgetCopied = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { secondsToReturn, leave, stay } = useReturn(page, flow, memory);
  const rareSteps = useRareSteps(flow);
  useStepFocus(flow, rareSteps !== null);
  useEndTitle(flow, page.strings);

  useEffect(() => {
    setPhone((before) => ({ ...before, lastWallet: memory.lastWallet }));
    const stopDiscovering = discover();
    checkout.start();
    return () => {
      stopDiscovering();
      checkout.stop();
    };
  }, [checkout, memory, discover]);

  const isTicking = !flow.payment.isFinal;
  useEffect(() => {
    if (!isTicking) return;
    const tick = () => setNowMs(clock.nowMs());
    tick();
    const timer = setInterval(tick, 1_000);
    return () => clearInterval(timer);
  }, [clock, isTicking]);

  const isPhoneShown = flow.step.at === 'ready' && (phone.isOpen || flow.wallets?.length === 0);
  useEffect(() => {
    if (!isPhoneShown) return;
    let isWanted = true;
    import('../../shared/qr.ts').then(
      ({ qrShape }) => isWanted && setPhone((before) => ({ ...before, qr: qrShape(payUrl(page)) })),
      // If the QR code cannot be drawn, the payer can use the link beside it, which has the same URL.
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [isPhoneShown, page]);

  const copy = async (text: string) => {
    if (!(await copyText(text))) return;
    setCopied(text);
    clearTimeout(forgetCopied.current);
    forgetCopied.current = setTimeout(() => setCopied(null), COPIED_MS);
  };

  const togglePhone = () => setPhone((before) => ({ ...before, isOpen: !before.isOpen }));
  const actions = { ...checkout, togglePhone, copy: (text: string) => void copy(text), leave, stay };
  return (
    <App
      page={page}
      flow={flow}
      nowMs={nowMs}
      secondsToReturn={secondsToReturn}
      phone={phone}
      rareSteps={rareSteps}
      copied={copied}
      actions={actions}
    />
  );
}
