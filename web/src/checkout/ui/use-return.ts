import { useCallback, useEffect, useState } from 'react';
import type { Flow } from '../flow-state.ts';
import { notifyEmbedder, wayBack } from '../leaving.ts';
import type { PaymentPage } from '../page-state.ts';
import type { Memory } from '../remembered.ts';

const SECONDS = 3;

/** After the payment has ended, notifies an embedding app, counts down, and redirects the payer to the shop once. */
export function useReturn(page: PaymentPage, { step, payment }: Flow, memory: Memory) {
  const [secondsToReturn, setSeconds] = useState<number | null>(null);
  const [isStaying, setStaying] = useState(false);
  const hasEnded = step.at === 'ended';
  const isPaid = payment.status === 'succeeded';
  const { paymentId } = page;
  const url = hasEnded ? wayBack(page, payment.status) : null;

  const leave = useCallback(() => {
    if (url === null) return;
    memory.rememberLeft(paymentId);
    location.assign(url);
  }, [url, paymentId, memory]);

  useEffect(() => {
    if (hasEnded) notifyEmbedder(window, isPaid);
  }, [hasEnded, isPaid]);

  useEffect(() => {
    if (url === null || isStaying || memory.hasLeft(paymentId)) return;
    setSeconds(SECONDS);
    let left = SECONDS;
    const timer = setInterval(() => {
      left -= 1;
      setSeconds(left);
      if (left > 0) return;
      clearInterval(timer);
      leave();
    }, 1_000);
    // If the back button restored the page, the payer must not be redirected again.
    const onShow = (event: PageTransitionEvent) => {
      if (event.persisted) setSeconds(null);
    };
    window.addEventListener('pageshow', onShow);
    return () => {
      clearInterval(timer);
      window.removeEventListener('pageshow', onShow);
    };
  }, [url, isStaying, paymentId, memory, leave]);

  return { secondsToReturn: isStaying ? null : secondsToReturn, leave, stay: () => setStaying(true) };
}
