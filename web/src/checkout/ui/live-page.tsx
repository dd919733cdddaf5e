import { useEffect, useState, useSyncExternalStore } from 'react';
import { openCheckout } from '../browser.ts';
import { CLOSED_PHONE } from '../first-props.ts';
import type { PaymentPage } from '../page-state.ts';
import type { PhonePanel } from './actions.ts';
import { App } from './app.tsx';
import { useEndTitle } from './use-end-title.ts';
import { useReturn } from './use-return.ts';
import { useStepFocus } from './use-step-focus.ts';

/** The page with its script: it goes on from what the server rendered. */
export function LivePage({ page }: { readonly page: PaymentPage }) {
  const [{ checkout, clock, memory, discover }] = useState(() => openCheckout(page));
  const flow = useSyncExternalStore(checkout.subscribe, checkout.getFlow, checkout.getFlow);
  const [nowMs, setNowMs] = useState(page.nowMs);
  const [phone, setPhone] = useState<PhonePanel>(CLOSED_PHONE);
  const { secondsToReturn, leave } = useReturn(page, flow, memory);
  useStepFocus(flow);
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

  const isTicking = flow.payment.status === 'requires_action';
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
      ({ qrShape }) => isWanted && setPhone((before) => ({ ...before, qr: qrShape(page.gatewayUrl) })),
      // The link beside it says the same.
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [isPhoneShown, page.gatewayUrl]);

  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(page.gatewayUrl);
      setPhone((before) => ({ ...before, isCopied: true }));
      setTimeout(() => setPhone((before) => ({ ...before, isCopied: false })), 2_000);
    } catch {
      // The link is on the page: it can be copied by hand.
    }
  };

  const togglePhone = () => setPhone((before) => ({ ...before, isOpen: !before.isOpen }));
  const actions = { ...checkout, togglePhone, copyLink: () => void copyLink(), leave };
  return (
    <App page={page} flow={flow} nowMs={nowMs} secondsToReturn={secondsToReturn} phone={phone} actions={actions} />
  );
}
