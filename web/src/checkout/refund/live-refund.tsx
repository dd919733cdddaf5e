import { useEffect, useState, useSyncExternalStore } from 'react';
import type { RefundPage } from '../page-state.ts';
import { useTitleFocus } from '../ui/use-step-focus.ts';
import { openSigning } from './open-signing.ts';
import { RefundApp } from './refund-app.tsx';

/** The page for signing a refund with its script, which hydrates the server's markup. */
export function LiveRefund({ page }: { readonly page: RefundPage }) {
  const [{ signing, discover }] = useState(() => openSigning(page));
  const state = useSyncExternalStore(signing.subscribe, signing.getState, signing.getState);
  useEffect(() => {
    const stopDiscovering = discover();
    signing.start();
    return () => {
      stopDiscovering();
      signing.stop();
    };
  }, [signing, discover]);

  useTitleFocus(`${state.refund.status} ${state.step.at}`);
  return <RefundApp page={page} state={state} actions={signing} />;
}
