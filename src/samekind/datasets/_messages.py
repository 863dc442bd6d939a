"""Made-up messages to the service of a shop, to try out what is for texts."""

from __future__ import annotations

import random
import re

import numpy as np
from numpy.typing import NDArray

from samekind._validation import RandomState, check_positive_int, check_seed

# In brackets: one of these. A name in braces is one of `_SLOTS`. Topics come from the most frequent on.
_TOPICS = {
    "where is my parcel": [
        "[where is|I am still waiting for] my [parcel|order|{thing}]",
        "my {thing} has [not arrived|not come yet], it was [ordered|bought] {ago}",
        "tracking [has not changed since {ago}|says nothing new for days]",
        "when will [order {number}|the {thing}] be delivered",
        "the [courier|driver] never [showed up|rang the bell], no parcel so far",
        "still no delivery after {ago}, is it [lost|stuck somewhere]",
    ],
    "money back": [
        "I [want|would like] my money back for the {thing}",
        "when do I get the refund for [order {number}|what I sent back {ago}]",
        "you have not paid me back [yet|for the returned {thing}]",
        "refund [not received|still missing], it was promised {ago}",
        "please [reimburse|pay back] the {thing}",
    ],
    "broken on arrival": [
        "the {thing} [arrived|came] [broken|damaged|cracked|scratched]",
        "[glass|the case|a corner] of my {thing} is [smashed|dented]",
        "box was [crushed|wet] and the {thing} inside is damaged",
        "my new {thing} does not [switch on|work at all] out of the box",
        "received a defective {thing}, [one part is snapped|it rattles]",
    ],
    "wrong thing sent": [
        "I ordered a {thing} and [got|received] a {thing}",
        "this is not what I [ordered|bought], wrong [colour|size|model]",
        "you sent me [the wrong {thing}|somebody else's {thing}]",
        "the parcel had a {thing} in it, but I paid for a {thing}",
        "wrong item in [order {number}|my parcel]",
    ],
    "cancel an order": [
        "please [cancel|stop] [order {number}|my order]",
        "I [changed my mind|ordered by mistake], cancel the {thing}",
        "can I still [cancel|call off] what I ordered {ago}",
        "I ordered the {thing} twice, please delete one of them",
        "do not send the {thing}, I [do not need it any more|found it elsewhere]",
    ],
    "how to send back": [
        "how do I [return|send back] a {thing}",
        "I need a [return label|label to send the {thing} back]",
        "what is your return policy for a [used|unopened] {thing}",
        "[who pays|do I pay] the postage if I send the {thing} back",
        "which [shop|post office] takes returns",
    ],
    "card was refused": [
        "my [card|payment] was [declined|refused] at the checkout",
        "[cannot|unable to] pay, the page says payment failed",
        "checkout does not accept my [credit card|debit card]",
        "why does [PayPal|bank transfer] not work when I want to pay for the {thing}",
        "tried to pay three times and each time it fails",
    ],
    "charged twice": [
        "I was [charged|billed] twice for [order {number}|the {thing}]",
        "there are two [bookings|debits] on my [account|card] for one {thing}",
        "you took the money [two times|double]",
        "double payment [{ago}|for the same order], please check",
    ],
    "cannot log in": [
        "I [forgot|lost] my password",
        "the [link to reset|reset mail for] my password never [comes|arrives]",
        "cannot [log in|sign in], [my account is locked|it says wrong password]",
        "how do I [set a new|change my] password",
        "locked out of my account since {ago}",
    ],
    "change the address": [
        "I [moved|am moving], please [change|update] my address",
        "send [order {number}|the {thing}] to another address",
        "the [street|house number|postcode] in my order is wrong",
        "can the parcel go to my [office|neighbour] instead of my home",
        "new delivery address for [the {thing}|order {number}]",
    ],
    "need an invoice": [
        "I need [an invoice|a receipt] for [order {number}|the {thing}]",
        "please send the bill [again|as PDF] for my tax office",
        "the invoice has the wrong [name|VAT number] on it",
        "where can I [download|find] my invoices",
    ],
    "voucher does not work": [
        "my [voucher|discount code|coupon] is [not accepted|invalid]",
        "the code {code} [does not work|has expired already]",
        "how do I [redeem|use] a gift card",
        "forgot to enter [my coupon|the code {code}], can you take it off the price",
    ],
    "back in stock": [
        "when is the {thing} [back in stock|available again]",
        "do you still [sell|have] the {thing} in {colour}",
        "the {thing} is sold out, will there be more",
        "tell me when I can order the {colour} {thing} again",
    ],
    "stop the newsletter": [
        "[take|remove] me from your mailing list",
        "I get [too many|daily] mails from you, please stop them",
        "unsubscribing from the newsletter does [not work|nothing]",
        "no more [advertising|marketing] mails please",
    ],
    "delete my account": [
        "please [delete|close] my account [and all my data|for good]",
        "I want all [my data|personal information] erased",
        "how do I [close|remove] my [account|profile]",
    ],
    "thanks": [
        "[great|wonderful] service, the {thing} is [perfect|lovely]",
        "just wanted to say thank you, [very fast|quick] and friendly",
        "[happy|delighted] with my {thing}, will order again",
    ],
}
_SLOTS = {
    "thing": "lamp|kettle|jacket|pair of boots|headset|desk chair|backpack|toaster|camera|blanket|"
    "bicycle pump|phone case|mirror|rice cooker|watch|tent|keyboard|teapot",
    "ago": "a week ago|last Monday|ten days ago|two weeks ago|in March|on the 3rd|yesterday",
    "colour": "blue|dark green|black|white|red|grey",
    "code": "SPRING20|HELLO10|VIP-5|FREESHIP|WINTER-15",
}
_BEFORE = "||||hi, |hello, |dear team, |good morning, |hey, |sorry to bother you, |urgent: "
_AFTER = "|||?|!|. thanks|. please help|. regards, {name}|, can you help me?|. this is annoying"
_NAMES = "Ann|Bilal|Chen|Dora|Emre|Fay|Goran|Hana|Ivo|June"
_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_TYPOS = 0.04  # of the words
_SKEW = 0.6  # topic i has a share proportional to i^-0.6


def make_messages(
    n: int = 1000, *, random_state: RandomState = None
) -> tuple[list[str], NDArray[np.str_]]:
    """Make short messages to the service of a shop, about 16 topics of different sizes.

    They hold names of products, numbers, polite words and some misspelt words, which say nothing about
    the topic.

    Parameters
    ----------
    n : int, default=1000
        Number of messages.
    random_state : int, Generator or None, default=None
        Fixes them.

    Returns
    -------
    texts : list of str
    topics : ndarray of n str

    Examples
    --------
    >>> from samekind.datasets import make_messages
    >>> texts, topics = make_messages(500, random_state=0)
    >>> len(texts), len(set(topics))
    (500, 16)
    """
    count = check_positive_int("n", n)
    rng = random.Random(check_seed(random_state))
    names = list(_TOPICS)
    shares = [(place + 1) ** -_SKEW for place in range(len(names))]
    topics = rng.choices(names, shares, k=count)
    texts = [_message(rng.choice(_TOPICS[topic]), rng) for topic in topics]
    return texts, np.array(topics)


def _message(template: str, rng: random.Random) -> str:
    """Return one message: greeting, what it is about, and an end; now and then a word is misspelt."""

    def choice(match: re.Match[str]) -> str:
        return rng.choice(str(match[1]).split("|"))

    def slot(match: re.Match[str]) -> str:
        if match[1] == "number":
            return str(rng.randrange(10_000, 99_999))
        return rng.choice((_NAMES if match[1] == "name" else _SLOTS[match[1]]).split("|"))

    body = _CHOICE.sub(choice, template)
    whole = rng.choice(_BEFORE.split("|")) + body + rng.choice(_AFTER.split("|"))
    words = [_misspelt(word, rng) for word in _SLOT.sub(slot, whole).split(" ")]
    text = " ".join(words)
    return text[0].upper() + text[1:] if rng.random() < 0.6 else text


def _misspelt(word: str, rng: random.Random) -> str:
    """Return a word with two letters swapped, or one left out, or more often as it is."""
    if len(word) < 4 or not word.isalpha() or rng.random() > _TYPOS:
        return word
    at = rng.randrange(1, len(word) - 1)
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return rng.choice([swapped, word[:at] + word[at + 1 :]])
