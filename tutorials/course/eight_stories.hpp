// Eight short stories, written for the lessons in the simple English that stories260K was trained
// on. No model has learned them.
#pragma once

#include <array>

namespace tapestry {

inline constexpr std::array<const char*, 8> stories = {
    "Once upon a time, there was a big dog named Max. Max had a red ball. He played with the ball "
    "all day. One day, the ball fell into the water. Max was very sad. His friend, a little bird, "
    "saw him and said, \"Do not be sad, Max. I can help you!\" The bird took the ball out of the "
    "water. Max was happy again. He said, \"Thank you, little bird!\" They played with the ball "
    "until it was dark.",

    "One day, a girl named Anna went to the park with her mom. She saw a tall tree with many "
    "apples. \"Mom, can I have an apple?\" she asked. \"The apples are too high,\" her mom said. "
    "Then a boy came with a long stick. He hit the tree and two apples fell down. He gave one "
    "apple "
    "to Anna. It was sweet. Anna smiled and said, \"You are very kind.\" The boy and Anna became "
    "good friends.",

    "There was a small cat who did not like the rain. When it rained, she hid under the bed. One "
    "day the rain did not stop. The cat was hungry, but she did not want to come out. Tom put a "
    "bowl of milk near the bed. The cat looked at the milk. She came out, step by step, and drank "
    "it all. Tom sat down and the cat jumped on his lap. Now the rain was not so bad.",

    "Ben and Mia wanted to make a cake for their grandma. They put flour, milk and eggs in a bowl. "
    "Ben mixed it with a spoon. Mia put in some sugar. Then Ben saw that the sugar was salt! \"Oh "
    "no,\" said Mia. \"We have to start again.\" They made a new cake, and this time they were "
    "careful. Grandma ate a big piece. \"This is the best cake,\" she said, and she gave them a "
    "hug.",

    "A little fish lived in a blue lake. He wanted to see the sky. Every day he jumped out of the "
    "water, but he was too small to see much. An old frog watched him. \"Sit on my back,\" the "
    "frog "
    "said. The frog swam to a big leaf and the fish looked up. The sky was blue like the lake, and "
    "a white cloud went by. \"It is so big!\" said the fish. He was glad that he had a friend.",

    "Sam had a toy truck. It was green and it could go very fast. One morning the truck was gone. "
    "Sam looked under the table, in the box and behind the door. He could not find it. He began to "
    "cry. Then he heard a funny noise. It was the baby. The baby sat on the floor and pushed the "
    "truck. Sam laughed. \"You can play with my truck,\" he said, \"but please give it back to "
    "me.\"",

    "It was night, and the moon was bright. Lucy could not sleep. She looked out of the window and "
    "saw a fox in the garden. The fox looked at Lucy. Lucy waved her hand. The fox ran away, but "
    "the next night it came back. Lucy put some bread on the grass. The fox ate the bread and "
    "looked up at the window. Every night they looked at each other, and Lucy slept well.",

    "Grandpa had a garden with many flowers. Jack helped him every Sunday. They gave water to the "
    "flowers and pulled out the weeds. One day Jack saw a flower that was brown and dry. \"Is it "
    "dead?\" he asked. \"Let us wait,\" said Grandpa. Jack gave it water every day. After a week "
    "there was a small green leaf. \"Look, Grandpa!\" he shouted. \"The flower is alive!\" Grandpa "
    "was proud of him."};

}  // namespace tapestry
