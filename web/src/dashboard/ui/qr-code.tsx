import { qrShape } from '../../shared/qr.ts';

/** A QR code, black on white in both themes, because many cameras read no other colours. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { size, path } = qrShape(text);
  return (
    <svg className="qr-code" viewBox={`-4 -4 ${size + 8} ${size + 8}`} role="img" aria-label={label}>
      <rect x="-4" y="-4" width={size + 8} height={size + 8} className="qr-light" />
      <path d={path} className="qr-dark" />
    </svg>
  );
}
