import type { Strings } from './en.ts';

export const es: Strings = {
  amountLabel: 'Importe en {currency}',
  bounds: 'De {minimum} a {maximum}',
  badAmount: 'Introduzca un importe de {minimum} a {maximum}, sin separador de miles: 1000 o 1,0, no 1.000.',
  continueTo: 'Continuar al pago',
  note: 'En esta página no se cobra nada. Verá el importe otra vez antes de pagar.',
  left: 'Quedan: {count}',
  soldOutTitle: 'Agotado',
  soldOutText: 'Todo está pagado o se está pagando ahora mismo. Inténtelo de nuevo en unos minutos.',
  expiredTitle: 'Este enlace ha caducado',
  inactiveTitle: 'Este enlace no admite pagos',
  closedText: 'Pida un enlace nuevo al comercio.',
  merchantTitle: 'El comercio no admite pagos en este momento',
  merchantText: 'Inténtelo más tarde o pregunte al comercio.',
  notFoundTitle: 'Este enlace no existe',
  notFoundText: 'Compruebe la dirección o pida un enlace nuevo al comercio.',
  busyTitle: 'Aquí se han iniciado demasiados pagos',
  busyText: 'Espere unos minutos e inténtelo de nuevo. En esta página no se cobra nada.',
  unavailableTitle: 'La página de pago no está disponible ahora mismo',
  unavailableText: 'Inténtelo de nuevo en un momento. En esta página no se cobra nada.',
};
