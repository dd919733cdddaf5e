import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { RefundPage } from '../page-state.ts';
import { openSigning } from './open-signing.ts';
import { RefundApp } from './refund-app.tsx';

/** The page with its script, which hydrates the server's markup. */
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

  const key = `${state.refund.status} ${state.step.at}`;
  const last = useRef(key);
  useEffect(() => {
    if (last.current === key) return;
    last.current = key;
    document.getElementById('step-title')?.focus({ preventScroll: true });
  }, [key]);
  return <RefundApp page={page} state={state} actions={signing} />;
}
