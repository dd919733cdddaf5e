import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';
import { ApiProblem } from '../api.ts';
import { addPasskey, deviceName, verifyPasskey } from '../passkeys.ts';
import { sessionQuery } from '../queries.ts';
import { useWords } from '../words.ts';
import { Dialog, Notice } from './parts.tsx';
import { passkeyProblem } from './problem-text.ts';

type WithPasskey = <T>(work: () => Promise<T>) => Promise<T>;

const VerifyContext = createContext<WithPasskey>((work) => work());

/** A function that runs a request. If the gateway requires the passkey again, the person is asked for it, and the request is repeated. */
export function useWithPasskey(): WithPasskey {
  return useContext(VerifyContext);
}

interface Question {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function VerifyProvider({ children }: { readonly children: ReactNode }) {
  const [question, setQuestion] = useState<Question>();
  const withPasskey: WithPasskey = useCallback(async (work) => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiProblem) || !error.needsPasskey) throw error;
      await new Promise<void>((resolve, reject) => setQuestion({ resolve, reject }));
      return work();
    }
  }, []);
  const end = (done: (question: Question) => void) => {
    if (question !== undefined) done(question);
    setQuestion(undefined);
  };
  return (
    <VerifyContext value={withPasskey}>
      {children}
      {question !== undefined && (
        <VerifyDialog
          onShown={() => end(({ resolve }) => resolve())}
          onClose={() => end(({ reject }) => reject(new Error('cancelled')))}
        />
      )}
    </VerifyContext>
  );
}

/** The dialog that asks for the passkey. A person without a passkey adds one, which also verifies it. */
function VerifyDialog({ onShown, onClose }: { readonly onShown: () => void; readonly onClose: () => void }) {
  const words = useWords();
  const client = useQueryClient();
  const [problem, setProblem] = useState<string>();
  const hasPasskey = (client.getQueryData(sessionQuery.queryKey)?.passkeys ?? 0) > 0;
  const show = async () => {
    try {
      await (hasPasskey ? verifyPasskey() : addPasskey(deviceName()));
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      onShown();
    } catch (error) {
      setProblem(passkeyProblem(words, error));
    }
  };
  return (
    <Dialog title={words.verifyTitle} onClose={onClose}>
      <p>{words.verifyText}</p>
      {problem !== undefined && <Notice kind="bad">{problem}</Notice>}
      <div className="dialog-actions">
        <button type="button" className="quiet" onClick={onClose}>
          {words.cancel}
        </button>
        <button type="button" className="main" onClick={() => void show()}>
          {hasPasskey ? words.verifyButton : words.addPasskey}
        </button>
      </div>
    </Dialog>
  );
}
