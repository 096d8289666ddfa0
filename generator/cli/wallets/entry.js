// What the buyer page asks of Pera and Defly: connect, and sign one transaction of a group.
import { DeflyWalletConnect } from "@blockshake/defly-connect";
import { PeraWalletConnect } from "@perawallet/connect";
import { decodeUnsignedTransaction } from "algosdk";

const CHAINS = { mainnet: 416001, testnet: 416002 };
const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

function over(wallet) {
  return {
    async connect() {
      const known = await wallet.reconnectSession().catch(() => []);
      return known.length ? known : wallet.connect();
    },
    // `auth` is whose key signs for an account that was rekeyed.
    async sign(group, place, address, auth) {
      const own = auth && auth !== address ? { authAddr: auth } : {};
      const items = group.map((item, at) => ({
        txn: decodeUnsignedTransaction(bytes(item)),
        ...(at === place ? { signers: [address], ...own } : { signers: [] }),
      }));
      const signed = await wallet.signTransaction([items], address);
      // Only what was signed comes back.
      return signed.length === group.length ? signed[place] : signed[0];
    },
  };
}

const options = (network) => ({ chainId: CHAINS[network] ?? 4160, shouldShowSignTxnToast: false });

export const pera = (network) => over(new PeraWalletConnect(options(network)));
export const defly = (network) => over(new DeflyWalletConnect(options(network)));
